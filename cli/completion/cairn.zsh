#compdef cairn
# Completion of cairn for zsh, which quotes what it inserts by itself.
_cairn() {
  local line tab=$'\t'
  local -a values notes
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then
      _files
      return
    fi
    values+=("${line%%$tab*}")
    notes+=("${line%%$tab*}  ${line#*$tab}")
  done < <(cairn __complete words "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( ${#values} )) && compadd -l -d notes -a values
}
if [[ "${funcstack[1]}" == "_cairn" ]]; then
  _cairn "$@"
else
  compdef _cairn cairn
fi
