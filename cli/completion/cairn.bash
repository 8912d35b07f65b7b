# Completion of cairn for bash. What the server says comes line by line, already quoted, and is never evaluated.
_cairn() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ":files" ]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("$line")
    fi
  done < <(cairn __complete bash "${COMP_LINE:0:$COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
}
complete -F _cairn cairn
