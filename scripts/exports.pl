#!/usr/bin/env perl
# Names the modules of this package that a module of a library exports and the library does not list:
# swift package dump-package | scripts/exports.pl
#
# SwiftPM compiles a user's code anew when a module has changed that a library lists. One that is only exported by
# another one it does not look at (6.3), and the user's code keeps the old places of stored properties.
use strict;
use warnings;
use File::Find;
use JSON::PP qw(decode_json);

my $package = do { local $/; decode_json(<STDIN>) };
my %isTarget = map { $_->{name} => 1 } @{ $package->{targets} };

# The modules that a target's sources export.
sub exported {
    my ($target) = @_;
    my %modules;
    return () unless -d "Sources/$target";
    find(
        sub {
            return unless /\.swift$/;
            open my $file, '<', $_ or die "$File::Find::name: $!\n";
            while (<$file>) {
                $modules{$1} = 1 if /^\@_exported (?:public )?import (?:(?:class|struct|enum|protocol|typealias|func) )?(\w+)/;
            }
        },
        "Sources/$target");
    return grep { $isTarget{$_} } sort keys %modules;
}

my @problems;
for my $product (@{ $package->{products} }) {
    next unless $product->{type}{library};
    my %listed = map { $_ => 1 } @{ $product->{targets} };
    for my $target (sort keys %listed) {
        for my $module (exported($target)) {
            push @problems, "Package.swift: the library $product->{name} does not list $module, which $target exports"
                unless $listed{$module};
        }
    }
}
print STDERR "$_\n" for @problems;
exit 1 if @problems;
