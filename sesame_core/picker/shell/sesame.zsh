# Sesame in zsh: a key puts the command that resumes a session into the line; Enter runs it.
# From `sesame init zsh`.  Without the key: SESAME_NO_KEY=1 before this line; another key: --key ctrl-g.

sesame-pick() {
  emulate -L zsh
  local line
  line=$({program} pick --print -- "$BUFFER" </dev/tty)
  if [[ -n $line ]]; then
    BUFFER=$line
    CURSOR=${#BUFFER}
  fi
  zle reset-prompt
}

if [[ -o zle ]]; then
  zle -N sesame-pick
  if [[ -z ${SESAME_NO_KEY-} && -n '{key}' ]]; then
    bindkey -M emacs '{key}' sesame-pick
    bindkey -M viins '{key}' sesame-pick
  fi
fi
