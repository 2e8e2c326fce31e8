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
    package static func name(of number: String) -> String? {
      // The number, the name in parentheses, the state, five numbers, the flags and more: see proc_pid_stat(5).
      guard let line = try? String(contentsOfFile: "/proc/self/task/\(number)/stat", encoding: .utf8),
        let start = line.firstIndex(of: "("), let end = line.lastIndex(of: ")")
      else { return nil }
      let isExiting: UInt32 = 4
      let fields = line[end...].split(separator: " ")
      guard fields.count > 7, let flags = UInt32(fields[7]), flags & isExiting == 0 else { return nil }
      return String(line[line.index(after: start)..<end])
    }
  }
#endif
