# What fish offers behind carrel.

function __carrel_profiles
    carrel profile list 2>/dev/null |
        sed -n 's/^  \(@\{0,1\}[a-z0-9][a-z0-9-]*\) .*/\1/p'
end

# the command line so far has a command, and it is one of these
function __carrel_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

function __carrel_verb
    set -l words (commandline -opc)
    test (count $words) -gt 2; and test $words[2] = profile
    and contains -- $words[3] $argv
end

function __carrel_bare
    test (count (commandline -opc)) -eq 1
end

# words behind the options of run are the payload's
function __carrel_payload
    set -l words (commandline -opc)
    set -l skip no
    for word in $words[3..-1]
        if test $skip = yes
            set skip no
            continue
        end
        switch $word
            case -p --profile -f --pack -C --directory --events --status-fd -o --output --run
                set skip yes
            case '-*'
                test $word = --; and return 0
            case '*'
                return 0
        end
    end
    return 1
end

complete -c carrel -f
complete -c carrel -n __carrel_bare -a run -d 'run a command in a sandbox'
complete -c carrel -n __carrel_bare -a shell -d 'your shell, inside'
complete -c carrel -n __carrel_bare -a learn -d 'what a command lacked'
complete -c carrel -n __carrel_bare -a explain -d 'what run would do'
complete -c carrel -n __carrel_bare -a why -d 'what makes a thing visible'
complete -c carrel -n __carrel_bare -a doctor -d 'can this host do it?'
complete -c carrel -n __carrel_bare -a profile -d 'what is installed'
complete -c carrel -n __carrel_bare -a import -d 'a profile of other options'
complete -c carrel -n __carrel_bare -a config -d 'the preferences in force'
complete -c carrel -n __carrel_bare -a violations -d 'what was refused'
complete -c carrel -n __carrel_bare -l version -d 'show the version'
complete -c carrel -n 'not __carrel_payload' -s h -l help -d 'show the usage'

set -l run '__carrel_command run shell learn explain why; and not __carrel_payload'
complete -c carrel -n $run -s n -l dry-run -d 'print what would be done'
complete -c carrel -n $run -s v -l verbose -d 'say more'
complete -c carrel -n $run -s p -l profile -x -a '(__carrel_profiles)' -d 'add a profile'
complete -c carrel -n $run -l no-defaults -d 'without the default profiles'
complete -c carrel -n $run -s f -l pack -r -F -d 'a profile of a stranger\'s'
complete -c carrel -n $run -s C -l directory -x -a '(__fish_complete_directories)' -d 'as if started there'
complete -c carrel -n $run -l events -r -F -d 'append what was refused'
complete -c carrel -n $run -l require-audit -d 'no run without the log'
complete -c carrel -n $run -l status-fd -x -d 'write how it started and ended'
complete -c carrel -n $run -l wait-all -d 'wait for what is left behind'
complete -c carrel -n $run -l allow-ptrace -d 'let it trace its own processes'
complete -c carrel -n $run -l without-landlock -d 'without the second wall'
complete -c carrel -n $run -l user-mode -d 'without the privilege'
complete -c carrel -n $run -l version -d 'show the version'
complete -c carrel -n '__carrel_command run learn explain; and not __carrel_payload' -a '(__fish_complete_command)'
complete -c carrel -n '__carrel_command run learn explain; and __carrel_payload' -F
complete -c carrel -n '__carrel_command why; and not __carrel_payload' -F

complete -c carrel -n '__carrel_command learn explain why config violations; and not __carrel_payload' -l json -d 'for a program'
complete -c carrel -n '__carrel_command explain; and not __carrel_payload' -l diff -d 'what the profiles change'
complete -c carrel -n '__carrel_command learn; and not __carrel_payload' -s o -l output -r -F -d 'where to'
complete -c carrel -n '__carrel_command why violations; and not __carrel_payload' -l run -x -d 'all of one run'
complete -c carrel -n '__carrel_command import' -a bwrap -d 'of bubblewrap'
complete -c carrel -n '__carrel_command import' -a firejail -d 'of a firejail profile'
complete -c carrel -n '__carrel_command import' -F

set -l verbs list show tree dot validate lint test
complete -c carrel -n "__carrel_command profile; and not __carrel_verb $verbs" -a "$verbs"
complete -c carrel -n '__carrel_verb list show tree validate lint test' -l json -d 'for a program'
complete -c carrel -n '__carrel_verb lint' -l strict -d 'fail on warnings, too'
complete -c carrel -n '__carrel_verb validate lint test' -s f -l pack -r -F -d 'a profile of a stranger\'s'
complete -c carrel -n '__carrel_verb test' -s C -l directory -x -a '(__fish_complete_directories)' -d 'the target'
complete -c carrel -n '__carrel_verb show validate lint test' -a '(__carrel_profiles)'
