/**
 * Home of the learned routing policy: features, objective, bandit, off-policy evaluation. None of it is built; the gateway
 * orders providers by the policy's static chain.
 */
export {};
