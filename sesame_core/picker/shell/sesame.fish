# Sesame in fish: a key puts the command that resumes a session into the line; Enter runs it.
# From `sesame init fish`.  Without the key: set SESAME_NO_KEY before this line; another key: --key ctrl-g.

function __sesame_pick
    set -l line ({program} pick --print -- (commandline -b | string collect) </dev/tty | string collect)
    if test -n "$line"
        commandline -r -- $line
    end
    commandline -f repaint
end

if status is-interactive; and not set -q SESAME_NO_KEY; and test -n '{key}'
    bind {key} __sesame_pick
    bind -M insert {key} __sesame_pick
end
