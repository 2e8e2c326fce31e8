#if os(Linux)
  import Foundation

  /// The threads of this process, as the kernel lists them.
  ///
  /// The kernel lists a thread for a moment after `pthread_join` has returned for it, marked as exiting. Such a thread
  /// does not count.
  package enum RunningThreads {
    package static func contains(_ number: String) -> Bool { self.name(of: number) != nil }

    package static func count(named name: String) -> Int {
      let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      return numbers.count { self.name(of: $0) == name }
    }

    /// The name of a thread; nil for one that does not run anymore.
    package static func name(of number: String) -> String? { self.entry(of: number)?.name }

    /// The number of the current thread.
    package static var current: String {
      let link = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
      return String(link.split(separator: "/").last ?? "")
    }

    /// Waits until a thread waits for something, such as a lock. Returns false after the time limit of a test.
    ///
    /// The kernel does not tell when a thread begins to wait, so this asks again and again.
    package static func waitUntilBlocked(_ number: String) -> Bool {
      let end = ContinuousClock.now + BoundedTests.limit
      while self.entry(of: number)?.state != "S" {
        if ContinuousClock.now > end { return false }
        sched_yield()
      }
      return true
    }

    private static func entry(of number: String) -> (name: String, state: Substring)? {
      // The number, the name in parentheses, the state, five numbers, the flags and more: see proc_pid_stat(5).
      guard let line = try? String(contentsOfFile: "/proc/self/task/\(number)/stat", encoding: .utf8),
        let start = line.firstIndex(of: "("), let end = line.lastIndex(of: ")")
      else { return nil }
      let isExiting: UInt32 = 4
      let fields = line[end...].split(separator: " ")
      guard fields.count > 7, let flags = UInt32(fields[7]), flags & isExiting == 0 else { return nil }
      return (String(line[line.index(after: start)..<end]), fields[1])
    }
  }
#endif
