# Sesame in bash: a key puts the command that resumes a session into the line; Enter runs it.
# From `sesame init bash`.  Without the key: SESAME_NO_KEY=1 before this line; another key: --key ctrl-g.

__sesame_pick() {
  local line
  line=$({program} pick --print -- "$READLINE_LINE" </dev/tty)
  if [[ -n $line ]]; then
    READLINE_LINE=$line
    READLINE_POINT=0x7fffffff
  fi
}

# The bash 3.2 of macOS cannot change the line from a key.
if [[ $- == *i* && ${BASH_VERSINFO[0]} -ge 4 && -z ${SESAME_NO_KEY-} && -n '{key}' ]]; then
  bind -m emacs -x '"{key}": __sesame_pick'
  bind -m vi-insert -x '"{key}": __sesame_pick'
fi
