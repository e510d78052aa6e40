# Prints what zsh offers for a command line: zsh_completions.zsh FOLDER PROGRAM LINE
#
# FOLDER holds the completion function _caffe2, PROGRAM is the folder of caffe2. A second shell completes
# the line on a pseudo-terminal; its compadd prints the matches.
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= RPS1=; unsetopt beep; stty -echo; path=($2 \$path); fpath=($1 \$fpath)"
zpty -w shell 'autoload -Uz compinit; compinit -u -D; bindkey "^I" complete-word'
zpty -w shell 'compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  typeset -a matches; builtin compadd -A matches "$@"; print -l -- "" "match:"$^matches
}'
zpty -w shell 'finished() { compstate[insert]=; compstate[list]=; print end:""completion }'
zpty -w shell 'compprefuncs=(); comppostfuncs=(finished); echo ready:""shell'
zpty -r -m shell line '*ready:shell*'
zpty -w -n shell "$3"$'\t'
zpty -r -m shell text '*end:completion*'
print -r -- $text | tr -d '\r' | grep '^match:' | sed 's/^match://'
zpty -d shell
