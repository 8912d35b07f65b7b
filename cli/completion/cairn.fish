# Completion of cairn for fish, which quotes what it inserts by itself.
function __cairn_complete
    set -l typed (commandline -opc)
    set -e typed[1]
    set -l current (commandline -ct)
    set -l lines (cairn __complete words $typed "$current" 2>/dev/null)
    if test "$lines[1]" = ":files"
        __fish_complete_path "$current"
    else if test (count $lines) -gt 0
        printf '%s\n' $lines
    end
end
complete -c cairn -f -a '(__cairn_complete)'
