;;; walk.el --- eglot walks from a comment to applied bytes and back  -*- lexical-binding: t -*-

;; Emacs from a package unpacked beside the system has no compiler of its own.
(setq native-comp-enable-subr-trampolines nil native-comp-jit-compilation nil)
(require 'eglot)
(require 'flymake)

(define-derived-mode walk-rust-mode prog-mode "Rust")
(add-to-list 'auto-mode-alist '("\\.rs\\'" . walk-rust-mode))
(add-to-list 'eglot-server-programs
             (list '(walk-rust-mode :language-id "rust") (getenv "UNDERSTUDY_BINARY") "lsp"))
(setq eglot-sync-connect 10
      make-backup-files nil
      auto-save-default nil)

(defvar walk-patience 60 "Seconds after which a condition that did not come is a failure.")
(defvar walk-file (expand-file-name "src/lib.rs" (getenv "WORKSPACE")))
(defvar walk-wanted nil "What the next choice is to contain.")
(defvar walk-questions nil "What eglot asked with yes or no; the newest first.")

;; Actions are chosen at the keyboard, not from a menu under the mouse.
(setq last-nonmenu-event t)
;; A person who reads what is offered and takes what was wanted.
(setq completing-read-function
      (lambda (_prompt collection &rest _)
        (or (seq-find (lambda (choice) (string-search walk-wanted choice)) (all-completions "" collection))
            (error "%S is not offered: %S" walk-wanted (all-completions "" collection)))))
(advice-add 'y-or-n-p :override (lambda (question &rest _) (push question walk-questions) t))

(defun walk-wait (what holds)
  "Wait until HOLDS returns non-nil; WHAT says what that would be."
  (let ((end (+ (float-time) walk-patience)) value)
    (while (not (setq value (funcall holds)))
      (when (> (float-time) end)
        (error "Never came: %s; buffer:\n%s\ndiagnostics: %S" what (buffer-string) (walk-diagnostics)))
      (accept-process-output nil 0.05))
    value))

(defun walk-ok (what) (message "ok: %s" what))

(defun walk-bytes (file)
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally file)
    (buffer-string)))

(defun walk-same (one other what)
  (unless (equal (walk-bytes one) (walk-bytes other))
    (error "%s:\n%s" what (walk-bytes one))))

(defun walk-diagnostics ()
  "Texts of all diagnostics of the buffer."
  (flymake-start)
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(defun walk-told (text)
  (walk-wait (format "a diagnostic with %S" text)
             (lambda () (seq-find (lambda (found) (string-search text found)) (walk-diagnostics)))))

(defun walk-act (line title)
  "Take the code action with TITLE on LINE, as `eglot-code-actions' offers it."
  (goto-char (point-min))
  (forward-line (1- line))
  (walk-wait (format "the code action %S" title)
             (lambda ()
               (seq-find (lambda (action) (string-search title (plist-get action :title)))
                         (eglot-code-actions (line-beginning-position) (line-end-position)))))
  (setq walk-wanted title)
  (eglot-code-actions (line-beginning-position) (line-end-position) nil t))

(find-file walk-file)
(eglot-ensure)
(unless (eglot-current-server)
  (apply #'eglot (eglot--guess-contact)))
(walk-wait "the server" #'eglot-current-server)
(walk-ok (format "eglot of Emacs %s is connected" emacs-version))

(walk-act 1 "do `fix warnings`")
(walk-told "3 of 3 hunks kept, verified")
(walk-same walk-file (expand-file-name "base.rs" (getenv "SCRATCH")) "Something was written before the approval")
(walk-ok "the comment became a task; nothing is written before the approval")

(walk-told "a hunk changes this (kept)")
(walk-act 17 "Reject this hunk")
(walk-told "a hunk changes this (rejected)")
(walk-told "2 of 3 hunks kept, verified")
(walk-ok "one hunk is rejected and the rest checked as the tree it is")

(save-window-excursion
  (walk-act 1 "Open the review")
  (walk-wait "the review document"
             (lambda ()
               (seq-find (lambda (buffer) (with-current-buffer buffer
                                            (save-excursion
                                              (goto-char (point-min))
                                              (looking-at-p "# fix warnings"))))
                         (buffer-list)))))
(set-buffer (get-file-buffer walk-file))
(walk-ok "the review is a document")

(walk-act 1 "Approve and apply: 2 of 3 hunks")
(walk-wait "the buffer has the new text" (lambda () (not (string-search "let mut sum" (buffer-string)))))
(walk-same walk-file (expand-file-name "base.rs" (getenv "SCRATCH")) "eglot has saved by itself")
(save-buffer)
(walk-same walk-file (expand-file-name "first_kept.rs" (getenv "SCRATCH")) "Not base and the kept hunks")
(walk-ok (format "applied byte for byte; eglot asked %d times" (length walk-questions)))

(walk-act 1 "Undo apply")
(walk-wait "the old text is back" (lambda () (string-search "// understudy: fix warnings" (buffer-string))))
(save-buffer)
(walk-same walk-file (expand-file-name "base.rs" (getenv "SCRATCH")) "Not what was there before")
(walk-ok "taken back byte for byte")

(eglot-shutdown (eglot-current-server))
;;; walk.el ends here
