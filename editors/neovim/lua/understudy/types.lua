---@meta
--- The shapes of the protocol (server/lsp/protocol.md) and of the configuration. Never loaded.

--- What `vim.g.understudy` may hold; everything is optional.
---@class understudy.Options
---@field cmd? string|string[] The program, or the program and what comes before `lsp`. Default: `understudy` on PATH.
---@field auto_attach? boolean Attach to every file of a workspace. Default: true.
---@field notify? boolean Say in one line how a task went on. Default: true.
---@field timeout? integer Seconds of active time of a task, where no variable and no user file says something.
---@field check_timeout? integer Seconds of one sandboxed command, likewise.
---@field max_attempts? integer Likewise.

--- The same with nothing missing.
---@class understudy.Config
---@field cmd string[]
---@field auto_attach boolean
---@field notify boolean
---@field limits table<string, integer>

---@class understudy.Publication
---@field number integer
---@field state 'applied'|'partial'|'refused'|'diverged'|'undone'
---@field sentence string
---@field unsaved string[]

---@class understudy.Question
---@field text string
---@field options string[]
---@field why? string

--- Dollars in millionths.
---@class understudy.Usage
---@field tokens integer
---@field microdollars? integer
---@field max_tokens? integer
---@field max_microdollars? integer
---@field attempts integer
---@field max_attempts integer

---@class understudy.Explanation
---@field text string
---@field citations {path: string, first_line: integer, last_line: integer, text: string, uri?: string}[]
---@field unfounded string[]
---@field model string

---@class understudy.TaskLine
---@field id string
---@field folder string
---@field title string
---@field source string
---@field engine string
---@field status 'waiting'|'running'|'checking'|'publishing'|'needs you'|'review'|'ended'|'interrupted'
---@field doing string
---@field done integer
---@field total integer
---@field verdict? string
---@field sentence string
---@field revision integer
---@field base? string
---@field tree? string
---@field kept_tree? string
---@field kept_verdict? 'verified'|'not verified'
---@field hunks integer
---@field rejected integer
---@field files integer
---@field insertions integer
---@field deletions integer
---@field question? understudy.Question
---@field waiting_for? 'answers'|'plan'|'provider'
---@field asked? string
---@field questions understudy.Question[]
---@field plan? {version: integer, steps: {id: string, title: string, status: string}[]}
---@field usage? understudy.Usage
---@field publication? understudy.Publication
---@field next string[]

---@class understudy.Outcome
---@field outcome 'applied'|'already there'|'partial'|'diverged'|'moved'|'refused'
---@field sentence string
---@field unsaved string[]
---@field task understudy.TaskLine

--- Lines count from 1. `text` is a run of changed lines, every other kind is one hunk for the whole file.
---@class understudy.Hunk
---@field id string
---@field kind 'text'|'create'|'delete'|'move'|'mode'|'symlink'|'binary'
---@field path string
---@field old_path string
---@field base_start integer
---@field base_lines integer
---@field new_start integer
---@field new_lines integer
---@field risks string[]
---@field needs_consent boolean
---@field rejected boolean

---@class understudy.Item
---@field id {package: string, target: string, path: string}
---@field at? [string, integer]
---@field excerpt string

---@class understudy.Comparison
---@field check string
---@field verdict string
---@field reason? string
---@field new_failures understudy.Item[]

---@class understudy.Report
---@field verdict string
---@field base? string
---@field tree? string
---@field hunks understudy.Hunk[]
---@field checks understudy.Comparison[]
---@field limitations {text: string, path?: string, line?: integer}[]

--- One file of a diff and its hunks, in the order of the lines.
---@class understudy.FileDiff
---@field path string
---@field old_path string
---@field hunks understudy.Hunk[]

--- What a review tab shows. `line` is the state that the developer has seen: an approval names its tree and revision.
---@class understudy.Review
---@field client vim.lsp.Client
---@field line understudy.TaskLine
---@field report understudy.Report
---@field files understudy.FileDiff[]
---@field rejected table<string, true> Ids of hunks.
---@field index integer Which file is shown.
---@field asked integer Counts changes, so that an answer about an older one is dropped: answers come in any order.
---@field tab integer
---@field windows {base: integer, tree: integer}
