#!/usr/bin/env perl
# Makes the table of Benchmarks/figures.md of what the programs print, so that no figure is typed by hand.
#
#   Benchmarks/table.pl RESULTS > table.md            RESULTS: a folder with what `run.sh all FOLDER` left
#   Benchmarks/table.pl RESULTS Benchmarks/figures.md  puts it between the two marks of the page; and what
#                                                   `run.sh scale >RESULTS/scale.txt` left between two others
#
# lines.tsv says which lines there are: what they are called, where a program prints them, what is wanted, and the floor.
use strict;
use warnings;

my ($results, $page) = @ARGV;
die "usage: table.pl RESULTS [PAGE]\n" unless defined $results && -d $results;
(my $home = $0) =~ s{[^/]*$}{};
$home = './' if $home eq '';

my %value;     # {group}{metric}{contestant}
read_reports();
my $table = table();
defined $page ? put('table', $table, $page) : print $table;
put('scale', scale(), $page) if defined $page && glob "$results/scale*.txt";

# What runs of strata-scale-bench printed, as one table: sizes may have been measured one after the other.
sub scale {
    my (%value, %sizes, @lines);
    for my $file (sort glob "$results/scale*.txt") {
        open my $in, '<', $file or die "$file: $!\n";
        my @head;
        while (my $line = <$in>) {
            chomp $line;
            my ($metric, $contestant, @values) = split /\t/, $line, -1;
            next unless @values;
            if ($metric eq 'metric') { @head = @values; @sizes{@head} = (); next; }
            push @lines, [$metric, $contestant] unless $value{$metric}{$contestant};
            $value{$metric}{$contestant}{$head[$_]} = $values[$_] for 0 .. $#head;
        }
    }
    my @sizes = sort { $a <=> $b } keys %sizes;
    my @rows = ('| ' . join(' | ', 'metric', 'contestant', map { short($_) . ' rows' } @sizes) . ' |',
        '|---' x (@sizes + 2) . '|');
    for my $line (@lines) {
        my $by = $value{$line->[0]}{$line->[1]};
        my @cells = map { defined $by->{$_} && $by->{$_} ne '' ? short($by->{$_}) : '' } @sizes;
        push @rows, '| ' . join(' | ', @$line, @cells) . ' |';
    }
    return join("\n", @rows) . "\n";
}

sub read_reports {
    for my $program (qw(db service ycsb oo7 migration)) {
        my $group = $program;
        my @head;
        open my $in, '<', "$results/$program.txt" or next;
        while (my $line = <$in>) {
            chomp $line;
            if ($line =~ /^## (\w+)/) { $group = $1; @head = (); next; }
            if ($program eq 'db') {
                my ($contestant, $metric, $median) = split / {2,}/, $line;
                note($group, $metric, $contestant, $median) if defined $median && $median =~ /^[\d.e+-]+$/;
            } elsif ($program eq 'service' || $program eq 'ycsb' || $program eq 'oo7') {
                my @cells = split /\t| {2,}/, $line;
                if (@cells && ($cells[0] eq 'line' || $cells[0] eq 'workload')) { @head = @cells; next; }
                @head = (), next if @cells < 3;
                next unless @head;
                for my $column (2 .. $#head) {
                    my $cell = $cells[$column];
                    next unless defined $cell && $cell =~ /^[\d.e+-]+$/;
                    note($program, "$cells[0].$head[$column]", $cells[1], $cell);
                }
            } elsif ($line =~ /^(\w+) (\w+) \([^)]*\)\t([\d.e+-]+)/) {
                note($program, $2, 'strata', $3);
            }
        }
    }
}

sub note {
    my ($group, $metric, $contestant, $number) = @_;
    $value{$group}{$metric}{$contestant} //= $number;
}

sub table {
    my @rows = (
        '| what | ours | SQLite | LMDB | GRDB | ours over SQLite | wanted | limit, or the disk alone |',
        '|---|---|---|---|---|---|---|---|');
    open my $in, '<', "${home}lines.tsv" or die "lines.tsv: $!\n";
    while (my $line = <$in>) {
        chomp $line;
        next if $line =~ /^#|^\s*$/;
        my ($label, $group, $metric, $ours, $better, $wanted, $limit) = split /\t/, $line, -1;
        if (!defined $group || $group eq '') { push @rows, "| **$label** | | | | | | | |"; next; }
        die "lines.tsv, line $.: seven columns are wanted\n" unless defined $limit;
        my $by = $value{$group}{$metric} or die "no program printed $group $metric (lines.tsv, line $.)\n";
        my $own = $by->{$ours} // die "$ours did not print $group $metric (lines.tsv, line $.)\n";
        my $indexed = exists $by->{'sqlite-indexed'} && !exists $by->{sqlite};
        my $sqlite = best($better, map { $by->{$_} } $indexed ? qw(sqlite-indexed sqlite-default-indexed)
            : qw(sqlite sqlite-default));
        if ($limit =~ s/^vs:(\S+)//) { $sqlite = best($better, map { $by->{$_} } split /,/, $1); }
        $limit =~ s/^ +//;
        $limit =~ s/\{(\S+?)\}/short($by->{$1} \/\/ die "no $1 of $group $metric\n")/ge;
        my $ratio = defined $sqlite && $own > 0 && $sqlite > 0
            ? ($better eq 'more' ? $own / $sqlite : $sqlite / $own) : undef;
        push @rows, '| ' . join(' | ', $label, cell($group, $metric, $ours, $own),
            cell($group, $metric, 'sqlite', $sqlite), cell($group, $metric, 'lmdb', $by->{lmdb}),
            cell($group, $metric, 'grdb', $by->{grdb}), verdict($own, $ratio, $better, $wanted),
            $limit) . ' |';
    }
    return join("\n", @rows) . "\n";
}

sub best {
    my ($better, @numbers) = @_;
    my @sorted = sort { $better eq 'more' ? $b <=> $a : $a <=> $b } grep { defined } @numbers;
    return $sorted[0];
}

# Two cells: the ratio, bold where less than what is wanted, and what is wanted.
sub verdict {
    my ($own, $ratio, $better, $wanted) = @_;
    my $text = defined $ratio ? ratio($ratio) : '';
    my $limit = $wanted eq '' && defined $ratio ? 1 : $wanted;
    my $missed = 0;
    if ($limit =~ /^[\d.]+$/) { $missed = defined $ratio && $ratio < $limit; }
    elsif ($limit =~ /^at (least|most) ([\d.]+)/) { $missed = $1 eq 'least' ? $own < $2 : $own > $2; }
    $text = '**' . ($text eq '' ? 'missed' : $text) . '**' if $missed;
    return ($text, $wanted);
}

sub cell {
    my ($group, $metric, $contestant, $number) = @_;
    return '' unless defined $number;
    my $text = short($number);
    # Lines of many clients say how long the slowest hundredth waits, too.
    if ($metric =~ /^(.*)\.(?:requests|operations)_per_s$/ && $contestant ne 'none') {
        my $p99 = $value{$group}{"$1.p99"}{$contestant};
        $text .= ' (' . short($p99) . ' ms)' if defined $p99;
    }
    return $text;
}

sub ratio {
    my $number = shift;
    return $number >= 10 ? sprintf('%.0f', $number) : sprintf('%.2g', $number);
}

sub short {
    my $number = shift;
    return sprintf('%.0fM', $number / 1e6) if $number >= 1e8;
    return sprintf('%.3gM', $number / 1e6) if $number >= 1e6;
    return sprintf('%.0fk', $number / 1e3) if $number >= 1e5;
    return sprintf('%.3gk', $number / 1e3) if $number >= 1e4;
    return scalar reverse join(',', unpack('(A3)*', scalar reverse sprintf('%.0f', $number))) if $number >= 1e3;
    return sprintf('%.3g', $number);
}

sub put {
    my ($mark, $table, $page) = @_;
    open my $in, '<', $page or die "$page: $!\n";
    local $/;
    my $text = <$in>;
    close $in;
    $text =~ s/(<!-- $mark -->\n).*?(<!-- end of $mark -->)/$1\n$table\n$2/s or die "$page has no marks for the table\n";
    open my $out, '>', $page or die "$page: $!\n";
    print $out $text;
}
