#if os(Linux)
  import Glibc

  /// A terminal with two jobs: this process, and another one that only waits.
  struct Terminal {
    private let descriptor: CInt
    private let other: pid_t

    /// Starts a session with the terminal at `path`.
    init(path: String) {
      setsid()
      self.descriptor = open(path, O_RDWR)
      // Otherwise this signal stops a background process that changes the foreground job.
      signal(SIGTTOU, SIG_IGN)
      self.other = Self.startJob()
      if self.descriptor < 0 || self.other == 0 { say("no terminal") }
    }

    /// Starts a process in a group of its own. It reads a pipe that is never written to, so it ends with this process.
    private static func startJob() -> pid_t {
      var ends: [CInt] = [-1, -1]
      guard pipe(&ends) == 0 else { return 0 }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
      for output in [CInt(1), 2] { posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0) }
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      posix_spawnattr_setflags(&attributes, CShort(POSIX_SPAWN_SETPGROUP))
      posix_spawnattr_setpgroup(&attributes, 0)
      var job: pid_t = 0
      let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("cat"), nil]
      return posix_spawn(&job, "/bin/cat", &actions, &attributes, arguments, nil) == 0 ? job : 0
    }

    func putInBackground() {
      if tcsetpgrp(self.descriptor, self.other) != 0 { say("no background") }
    }

    func putInForeground() {
      if tcsetpgrp(self.descriptor, getpgrp()) != 0 { say("no foreground") }
    }
  }
#endif
