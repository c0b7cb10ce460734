"""Scripts that let bash, zsh and fish complete command lines: `memtui setup completions`."""

# Each asks the hidden `memtui --complete` (cli/completing.py), so that ids, names and settings are those of the moment.
SCRIPTS = {
    "bash": """\
# Completions of memtui for bash.
_memtui() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(memtui --complete bash "$COMP_LINE" "$COMP_POINT" "$COMP_WORDBREAKS" 2>/dev/null)
    if [[ ${COMPREPLY[0]} == :directories ]]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY=()
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -d -- "${COMP_WORDS[COMP_CWORD]}")
    elif [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
complete -F _memtui memtui
""",
    "zsh": """\
#compdef memtui
# Completions of memtui for zsh.
_memtui() {
    local line
    local -a found
    while IFS= read -r line; do
        [[ $line == :directories* ]] && { _files -/; return }
        line=${line%$'\\t'}
        found+=("${${line%%$'\\t'*}//:/\\\\:}${${(M)line#*$'\\t'}:+:${line#*$'\\t'}}")
    done < <(memtui --complete zsh "${(Q)words[@]:0:$CURRENT}" 2>/dev/null)
    _describe -V memtui found
}
if [[ $funcstack[1] == _memtui ]]; then
    _memtui "$@"
else
    compdef _memtui memtui
fi
""",
    "fish": """\
# Completions of memtui for fish.
function __memtui_complete
    set -l words (commandline -opc) (commandline -ct | string unescape 2>/dev/null; or commandline -ct)
    set -l found (memtui --complete fish $words 2>/dev/null)
    if string match -q ':directories*' -- $found[1]
        __fish_complete_directories (commandline -ct) ''
    else
        string join \\n -- $found
    end
end
complete -c memtui -f -k -a '(__memtui_complete)'
""",
}
