#!/usr/bin/env perl
# Puts mutants into Swift files: `Tests/mutants.sh` is what runs them.
#
#   mutants.pl RULES [FILE...]   RULES: names with commas between. Writes each file anew and prints, a line each, the
#                                mutant's number, rule, file, line, and the text of the line, with tabs between.
#   mutants.pl -l RULES [FILE...]  prints only
#
# Each mutant is an expression that asks strata_mutant(NUMBER) whether it is the one that the process is to have, so that
# one build has all of them. STRATA_MUTANTS_WITHOUT lists numbers, with commas, that are not put in (they do not compile).
# STRATA_MUTANT_CONDITIONS, a regular expression, says which files have mutants of the rules bound and guard.
use strict;
use warnings;

my $lists = @ARGV && $ARGV[0] eq '-l' ? shift @ARGV : 0;
my %rules = map { $_ => 1 } split /,/, shift @ARGV // '';
my %without = map { $_ => 1 } split /,/, $ENV{STRATA_MUTANTS_WITHOUT} // '';
my $filter = $ENV{STRATA_MUTANT_CONDITIONS} // '';
my $number = 0;
my @list;

# Statements that change what is on the disk, or what counts as being there.
my $step = qr/\b(?:fileSystem|directory)\.(?:rename|exchange|unlink|removeDirectory|createDirectory|removeFiles)\(
    |\bfiles\.(?:remove|makeVoid)\(|\b(?:file|output)\.(?:truncate|writeAll|beginWriting)\(|\b(?:manifest|first)\.write\(
    |\b(?:Checkpoint\.write|setDurable|recordFlush|rollBack|beginFlushing|source\.abandon|trim|retire)\(
    |(?:^|\b(?:try[?]?|return)\s)\s*(?:move|removeTree|removeFiles|removeCopyLock|makeVoid|rewrite|install|installInSteps|empty
        |abandon|write|preallocate)\(
    |\bfinish\((?:beside|lock)\)
    |\b(?:writer|StoreMetadata|StoreFile)\.write\(/x;
my $flushes = qr/\b(?:sync|syncData|syncDirectory|syncNames|flushParent|flush)\(/;

# The number of a new mutant of this line, or nothing if the rule is not asked for or the mutant is left out.
sub mutant {
    my ($rule, $file, $line, $text) = @_;
    return unless $rules{$rule};
    return if $rule =~ /^(?:bound|guard)$/ && $file !~ /(?:$filter)/;
    $number++;
    return if $without{$number};
    (my $shown = $text) =~ s/^\s+|\s+$//g;
    push @list, join("\t", $number, $rule, $file, $line, $shown);
    return $number;
}

# Splits conditions at the commas that no bracket or string holds.
sub conditions {
    my ($text) = @_;
    my ($depth, $part, @parts, $quoted) = (0, '');
    for my $char (split //, $text) {
        $quoted = !$quoted if $char eq '"';
        if (!$quoted) {
            $depth++ if $char =~ /[(\[{]/;
            $depth-- if $char =~ /[)\]}]/;
            if ($char eq ',' && $depth == 0) { push @parts, $part; $part = ''; next }
        }
        $part .= $char;
    }
    return (@parts, $part);
}

sub ruleOfCondition {
    my ($condition) = @_;
    return 'checksum' if $condition =~ /(?:hecksum|crc\b)/ && $condition =~ / [!=]= /;
    return 'bound' if $condition =~ / (?:<=|>=|<|>) /;
    return 'guard';
}

# Makes conditions of a guard (or of an if that throws) always true (or false).
sub mutateConditions {
    my ($text, $verdict, $file, $line, $shown) = @_;
    my @parts = conditions($text);
    for my $part (@parts) {
        my ($space, $condition, $rest) = $part =~ /^(\s*)(.*?)(\s*(?:else\b.*|\{.*)?)$/s;
        next if !length $condition || $condition =~ /^(?:let|var|case|#)\b?/ || $condition =~ /^(?:&&|\|\||\?|:|\.)/;
        # What goes on in the next line is one condition with it; the verdict takes the place of both.
        my $id = mutant(ruleOfCondition($condition), $file, $line, $shown) or next;
        my $try = $condition =~ s/^try\s+// ? 'try ' : '';
        $part = "$space${try}strata_mutant($id) ? $verdict : $condition$rest";
    }
    return join ',', @parts;
}

sub rewrite {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!";
    my @lines = <$in>;
    close $in;
    my @before = @lines;
    my ($inGuard, $changed) = (0, 0);
    for my $index (0..$#lines) {
        my $line = $lines[$index];
        my $at = $index + 1;
        next if $line =~ m{^\s*//} || $line =~ /\bfunc\b|^\s*\*/;
        # flush: a file's or directory's flush is left out.
        if ($line =~ $flushes && $rules{flush}) {
            $line =~ s{\b(try[?]?) ((?:\w+\.)*(?:sync|syncData|syncDirectory|syncNames|flushParent)\((?:[^()]|\([^()]*\))*\))}{
                my ($try, $call) = ($1, $2);
                my $id = $call =~ /queue\./ ? undef : mutant('flush', $file, $at, $before[$index]);
                $id ? "$try (strata_mutant($id) ? () : $call)" : "$try $call"
            }ge;
            $line =~ s{^(\s*)try (\S.*\?\.sync\(\))$}{
                my ($space, $call) = ($1, $2);
                my $id = mutant('flush', $file, $at, $before[$index]);
                $id ? "${space}_ = try (strata_mutant($id) ? nil : $call)" : "${space}try $call"
            }e;
            # Of the log, which says whether records had to be written again.
            $line =~ s{^(\s*(?:if )?)try ((?:writer\.)?flush\(\))}{
                my ($head, $call) = ($1, $2);
                my $id = $file =~ m{Write/|Store/|Compaction/} ? mutant('flush', $file, $at, $before[$index]) : undef;
                my $unused = $head =~ /if/ ? '' : '_ = ';
                $id ? "$head${unused}try (strata_mutant($id) ? false : $call)" : "${head}try $call"
            }e;
            $line =~ s{_ = try\? \$0\?\.flush\(\)}{
                my $id = mutant('flush', $file, $at, $before[$index]);
                '_ = try? ' . ($id ? "(strata_mutant($id) ? nil : \$0?.flush())" : '$0?.flush()')
            }e;
            $line =~ s{\btry (GroupCommit\.flush\([^()]*\) \{.*\})}{
                my ($call) = ($1);
                my $id = mutant('flush', $file, $at, $before[$index]);
                $id ? "try (strata_mutant($id) ? () : $call)" : "try $call"
            }e;
            $line =~ s{\btry GroupCommit\.flush\((.*, publish: publish)\)}{
                my ($arguments) = ($1);
                my $id = mutant('flush', $file, $at, $before[$index]);
                $id ? "try (strata_mutant($id) ? () : GroupCommit.flush($arguments))" : "try GroupCommit.flush($arguments)"
            }e;
        }
        # lock: a lock is not taken, or taken without success.
        $line =~ s{^(\s*)if !isMine \{ wait\(\) \}}{
            my ($space, $id) = ($1, mutant('lock', $file, $at, $before[$index]));
            "${space}if " . ($id ? "strata_mutant($id) ? false : " : '') . '!isMine { wait() }'
        }e;
        $line =~ s{\btry (\w+)\.tryLockExclusively\(\)}{
            my ($name, $id) = ($1, mutant('lock', $file, $at, $before[$index]));
            $id ? "try (strata_mutant($id) ? true : $name.tryLockExclusively())" : "try $name.tryLockExclusively()"
        }e;
        # checksum, bound, guard: a condition always passes.
        if ($line =~ /^(\s*guard )(.*)$/s) {
            my ($head, $rest) = ($1, $2);
            $line = $head . mutateConditions($rest, 'true', $file, $at, $before[$index]);
            $inGuard = $line !~ /\belse\b/;
        } elsif ($inGuard) {
            $inGuard = 0 if $line =~ /\belse\b/;
            # A line of its own if the one before ended with a comma.
            if ($before[$index - 1] =~ /,\s*$/ && $line !~ /^\s*else\b/) {
                my ($space, $rest) = $line =~ /^(\s*)(.*)$/s;
                $line = $space . mutateConditions($rest, 'true', $file, $at, $before[$index]);
            }
        } elsif ($line =~ /^\s*(?:\} else )?if .*\{ (?:throw|return nil|return false)\b/
            || ($line =~ /^\s*(?:\} else )?if .*\{\s*$/ && ($lines[$index + 1] // '') =~ /^\s*throw\b/)) {
            my ($head, $rest) = $line =~ /^(\s*(?:\} else )?if )(.*)$/s;
            $line = $head . mutateConditions($rest, 'false', $file, $at, $before[$index]);
        }
        $changed = 1 if $line ne $lines[$index];
        $lines[$index] = $line;
    }
    if ($rules{step} || $rules{order}) {
        $changed = 1 if rewriteSteps($file, \@lines, \@before);
    }
    return if $lists || !$changed;
    s/^(?:(?:internal|package|public|fileprivate) )?import CStrataSupport$/public import CStrataSupport/ for @lines;
    unshift @lines, "public import CStrataSupport; " . shift @lines unless grep { /^public import CStrataSupport/ } @lines;
    open my $out, '>', $file or die "$file: $!";
    print $out @lines;
    close $out;
}

# A statement that begins in a line: where it ends, if it is a call of what changes the disk; otherwise nothing.
sub statement {
    my ($lines, $index) = @_;
    return unless $lines->[$index] =~ /^(\s+)(?:_ = )?(?:try[?]? )?(.*)$/s;
    my ($space, $text) = ($1, $2);
    return if $text =~ /^(?:\/\/|let|var|if|guard|do|for|while|return|case|func|defer|\}|private|init|throw|switch|else)/;
    return unless $text =~ /^(?:\(|io\(|(?:\w+\.)*\w+\()/;
    my ($depth, $end, $whole) = (0, $index, '');
    for (; $end < @$lines; $end++) {
        my $line = $lines->[$end];
        $whole .= $line;
        $line =~ s/"(?:[^"\\]|\\.)*"//g;
        $depth += () = $line =~ /[(\[{]/g;
        $depth -= () = $line =~ /[)\]}]/g;
        return if $depth < 0 || $end - $index > 12;
        last if $depth == 0;
    }
    return if $depth || ($lines->[$end + 1] // '') =~ /^\s*\./;
    return unless $whole =~ $step || $whole =~ $flushes;
    return if $whole =~ /\bdefer\b/;
    # A closure whose result is that of its one expression.
    return if $lines->[$index - 1] =~ /\{ \w+ throws\(\w+\) in$/;
    return ($end, $space);
}

# step: something that is done to the disk is left out. order: two such steps that follow each other change places.
sub rewriteSteps {
    my ($file, $lines, $before) = @_;
    my ($index, $changed) = (0, 0);
    while ($index < @$lines) {
        my ($end, $space) = statement($lines, $index);
        if (!defined $end) { $index++; next }
        my @run = ([$index, $end]);
        while (1) {
            my $next = $run[-1][1] + 1;
            $next++ while ($lines->[$next] // '') =~ m{^\s*//};
            my ($end, $other) = statement($lines, $next);
            last unless defined $end && $other eq $space;
            push @run, [$next, $end];
        }
        my @texts;
        for my $part (@run) {
            my $text = join '', @$lines[$part->[0]..$part->[1]];
            my $isFlush = $text =~ $flushes;
            if (!$isFlush and my $id = mutant('step', $file, $part->[0] + 1, $before->[$part->[0]])) {
                $text = "${space}if !strata_mutant($id) {\n$text${space}}\n";
                $changed = 1;
            }
            push @texts, $text;
        }
        my $code = join '', @texts;
        my $choices = '';
        for my $part (0..$#run - 1) {
            my $id = mutant('order', $file, $run[$part][0] + 1, $before->[$run[$part][0]]) or next;
            my @other = @texts;
            @other[$part, $part + 1] = @other[$part + 1, $part];
            $choices .= ($choices ? " else " : $space) . "if strata_mutant($id) {\n" . join('', @other) . "${space}}";
            $changed = 1;
        }
        $code = "$choices else {\n$code$space}\n" if $choices;
        my $last = $run[-1][1];
        # The lines keep their numbers for what is behind.
        $lines->[$_] = '' for $index..$last;
        $lines->[$index] = $code;
        $index = $last + 1;
    }
    return $changed;
}

rewrite($_) for @ARGV;
print "$_\n" for @list;
