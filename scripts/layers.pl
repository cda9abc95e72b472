#!/usr/bin/env perl
# Names the types of the object graph that files of Sources/Strata/Rows mention, which must know none of them, so that
# the folder can become a module: scripts/layers.pl
use strict;
use warnings;
use File::Find;

my $types = qr/(?:class|struct|enum|protocol|actor|typealias)/;
my (%declared, %files);
find(sub { $files{$File::Find::name} = 1 if /\.swift$/ }, 'Sources/Strata');

# The code without comments and what stands between quotation marks.
sub code {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    my $text = <$file>;
    $text =~ s{//[^\n]*}{}g;
    $text =~ s{"(?:\\.|[^"\\\n])*"}{""}g;
    return $text;
}

for my $path (grep { !m{/Rows/} } keys %files) {
    my $code = code($path);
    $declared{$1} //= $path while $code =~ /^(?:\@\w+(?:\([^)]*\))?\s+|\w+(?:\(\w+\))?\s+)*?$types\s+(\w+)/mg;
}
# Another spelling of types of StrataSchema, and of one of Foundation.
delete @declared{qw(NSComparisonPredicate NSExpression Mutex)};
my @problems;
for my $path (sort grep { m{/Rows/} } keys %files) {
    my %seen;
    my $code = code($path);
    while ($code =~ /\b([A-Z]\w+)/g) {
        push @problems, "$path mentions $1, of $declared{$1}" if $declared{$1} && !$seen{$1}++;
    }
}
print STDERR "$_\n" for @problems;
exit 1 if @problems;
