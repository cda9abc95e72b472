#!/usr/bin/env perl
# Names the public symbols that have no documentation, whose documentation does not begin with a summary, or that no
# page of their module's catalogue lists:
#   scripts/undocumented.pl GRAPHS
# GRAPHS has a folder of symbol graphs for each module. An override or a witness has the documentation it inherits.
use strict;
use warnings;
use JSON::PP qw(decode_json);

sub contents {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    local $/;
    return <$file>;
}

my ($graphs) = @ARGV;
my @problems;
for my $folder (sort glob "$graphs/*") {
    my ($module) = $folder =~ m{([^/]+)$};
    my $pages = join '', map { contents($_) } glob "Sources/$module/$module.docc/*.md";
    # What follows a function's parentheses tells it from others of its name.
    my %listed = map { s/\)-\(.*/)/r => 1 } $pages =~ /^- ``([^`\n]+)``$/mg;
    for my $path (sort glob "$folder/*.symbols.json") {
        for my $symbol (@{ decode_json(contents($path))->{symbols} }) {
            # A block; its members are symbols themselves.
            next if $symbol->{kind}{identifier} eq 'swift.extension';
            my @names = @{ $symbol->{pathComponents} };
            my $name = join '.', @names;
            my ($summary) = map { $_->{text} } @{ ($symbol->{docComment} || {})->{lines} || [] };
            push @problems, "$module: $name has no documentation" unless defined $summary;
            push @problems, "$module: $name has no summary" if defined $summary && $summary =~ /^- /;
            # Extensions of other modules' types have files of their own.
            next if @names > 1 || $path =~ /\@/;
            push @problems, "$module: $name is in no Topics of Sources/$module/$module.docc" unless $listed{$name};
        }
    }
}
print STDERR "$_\n" for @problems;
exit 1 if @problems;
