#if os(Linux)
  import Foundation
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationActivityObserving

  /// The system that an observer reads, with values that a test sets.
  final class FakeSystem: Sendable {
    let timeAsleep = Box<Duration?>(nil)
    let wakeUps = Counter()
    let isForeground = Box<Bool?>(nil)
    let folder: String

    private struct State {
      var handlers: [Int: (ProcessSignal, @Sendable () -> Void)] = [:]
      var lastID = 0
    }

    private let state = Mutex(State())

    init() {
      self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("system-\(UUID().uuidString)").path
    }

    deinit {
      try? FileManager.default.removeItem(atPath: self.folder)
    }

    var handlerCount: Int { self.state.withLock { $0.handlers.count } }

    func subscribe(to signal: ProcessSignal, _ handler: @escaping @Sendable () -> Void) -> OperationSubscription {
      let id = self.state.withLock { state in
        state.lastID += 1
        state.handlers[state.lastID] = (signal, handler)
        return state.lastID
      }
      return OperationSubscription {
        let handler = self.state.withLock { $0.handlers.removeValue(forKey: id) }
        _ = consume handler
      }
    }

    func send(_ signal: ProcessSignal) {
      let handlers = self.state.withLock { $0.handlers.values.filter { $0.0 == signal }.map(\.1) }
      for handler in handlers { handler() }
    }

    /// Puts the process into a control group, which is frozen or not.
    func writeGroup(frozen: Int) throws {
      let files = [
        ("self/cgroup", "0::/own\n"),
        ("self/mountinfo", "40 31 0:38 / \(self.folder)/groups rw - cgroup2 cgroup2 rw\n"),
        ("groups/own/cgroup.events", "populated 1\nfrozen \(frozen)\n"),
      ]
      for (name, text) in files {
        let path = self.folder + "/" + name
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Written at once and in place, as the kernel changes its files.
        let file = open(path, O_WRONLY | O_CREAT, 0o600)
        guard file >= 0, write(file, text, text.utf8.count) == text.utf8.count else {
          throw CocoaError(.fileWriteUnknown)
        }
        close(file)
      }
    }

    /// Waits until timers of five milliseconds have fired this often.
    func ticks(of loop: EventLoop, _ count: Int) async throws {
      for _ in 0..<count {
        let gate = Gate()
        let timer = loop.schedule(after: .milliseconds(6)) { gate.open() }
        try await gate.wait()
        timer.cancel()
      }
    }
  }
#endif
