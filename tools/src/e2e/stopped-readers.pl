# Opens connections with a small receive buffer, sends the same request on each, and reads nothing until its input ends.
# Node.js cannot set the buffer, and the kernel's own would take in whole streams.
# usage: perl stopped-readers.pl PORT COUNT RECEIVE_BYTES < REQUEST (its length in decimal on a line of its own, then the bytes)
use strict;
use warnings;
use Socket;

my ($port, $count, $bytes) = @ARGV;
my $length = <STDIN>;
read(STDIN, my $request, $length) == $length or die "the request is cut short\n";
my @sockets;
for my $n (1 .. $count) {
  socket(my $socket, PF_INET, SOCK_STREAM, 0) or die "socket $n: $!\n";
  setsockopt($socket, SOL_SOCKET, SO_RCVBUF, pack('i', $bytes)) or die "setsockopt: $!\n";
  connect($socket, pack_sockaddr_in($port, inet_aton('127.0.0.1'))) or die "connect $n: $!\n";
  defined syswrite($socket, $request) or die "write $n: $!\n";
  push @sockets, $socket;
}
$| = 1;
print "open\n";
my $rest = <STDIN>;
