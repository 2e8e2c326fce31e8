#if os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationEventLoop

  /// A loop that cannot create its pipe.
  @Suite(.bounded, .warningsAreIssues) struct StartTests {
    private let clock = ManualClock()
    private let isRefused = Box<Bool?>(nil)
    private let noEventLoop = OperationWarning.Code(description: "noEventLoop")

    private func loop() -> EventLoop {
      EventLoop(deadlines: self.clock) { [isRefused = self.isRefused] () throws(SystemFailure) in
        if isRefused.value == true { throw SystemFailure(call: "socketpair", code: EMFILE) }
        return try WakePipe()
      }
    }

    @Test func `A loop that cannot start tries again with growing delays, and then makes its calls`() async throws {
      self.isRefused.value = true
      let loop = self.loop()
      let pipe = Pipe()
      let (received, over) = (Gate(), Gate())
      pipe.send()
      let first = expectWarning(self.noEventLoop) {
        loop.watch(pipe.reader, for: .readable) { _ in
          pipe.receive()
          received.open()
        }
      }
      // A second failure in a row is not reported.
      let second = loop.schedule(after: .zero) { over.open() }
      expect(self.clock.remainingTimes(), equals: [.milliseconds(200)])
      self.clock.advance(by: .milliseconds(200))
      for milliseconds in [400, 800, 1_600, 3_200, 6_400, 10_000, 10_000] {
        expect(self.clock.remainingTimes(), equals: [.milliseconds(milliseconds)])
        #expect(!loop.isRunning)
        self.clock.advance(by: .milliseconds(milliseconds))
      }
      self.isRefused.value = false
      self.clock.advance(by: .seconds(10))
      #expect(loop.isRunning)
      try await received.wait()
      try await over.wait()
      expect(self.clock.sleeperCount(), equals: 0)
      first.cancel()
      second.cancel()
      #expect(!loop.isRunning)
    }

    @Test func `A loop without registrations does not try again, and a later failure is reported again`() async throws {
      self.isRefused.value = true
      let loop = self.loop()
      for _ in 0..<2 {
        let registration = expectWarning(self.noEventLoop) { loop.schedule(after: .zero) {} }
        expect(self.clock.remainingTimes(), equals: [.milliseconds(100)])
        registration.cancel()
        expect(self.clock.sleeperCount(), equals: 0)
      }
      self.isRefused.value = false
      let gate = Gate()
      let registration = loop.schedule(after: .zero) { gate.open() }
      try await gate.wait()
      registration.cancel()
    }

    @Test func `Without descriptors a loop does not start, and starts once there are some again`() async {
      await #expect(processExitsWith: .success) {
        // Ends the process when a wait in it does not end.
        alarm(1_200)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 64
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var descriptors: [CInt] = []
        while case let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0 {
          descriptors.append(descriptor)
        }
        let loop = EventLoop()
        let isOver = DispatchSemaphore(value: 0)
        let warnings = Log<OperationWarning>()
        let registration = OperationWarning.withReporter {
          warnings.append($0)
        } operation: {
          loop.schedule(after: .zero) { isOver.signal() }
        }
        let wasRunning = loop.isRunning
        for descriptor in descriptors { close(descriptor) }
        isOver.wait()
        registration.cancel()
        #expect(!wasRunning)
        expect(warnings.all.map(\.severity), equals: [.failure])
      }
    }

    @Test func `A deadline on a thread of its own fires, unless it is cancelled`() async throws {
      let lifetimes = LifetimeTracker()
      let gate = Gate()
      let cancelled = ThreadDeadlines().schedule(after: .seconds(3_600)) { [token = lifetimes.token()] in token.touch()
      }
      cancelled.cancel()
      expect(lifetimes.aliveCount, equals: 0)
      let subscription = ThreadDeadlines().schedule(after: .milliseconds(1)) { gate.open() }
      try await gate.wait()
      subscription.cancel()
    }

    @Test func `No child inherits the pipe, not even one that starts while the pipe is created`() async {
      await #expect(processExitsWith: .success) {
        // Ends the process when a wait in it does not end.
        alarm(1_200)
        let before = Children.descriptors()
        let isOver = AtomicFlag(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread { @Sendable in
          while !isOver.isOn { _ = try? WakePipe() }
          hasEnded.signal()
        }
        for _ in 0..<200 { expect(Children.descriptors(), equals: before) }
        _ = isOver.set(true)
        hasEnded.wait()
      }
    }
  }

  /// Processes that list the descriptors that they inherit.
  private enum Children {
    /// The descriptors that a child has open, as it lists them itself.
    static func descriptors() -> String {
      var ends: [CInt] = [-1, -1]
      guard pipe(&ends) == 0 else { return "no pipe" }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
      let arguments = [strdup("ls"), strdup("/proc/self/fd"), nil]
      defer { for argument in arguments { free(argument) } }
      var child: pid_t = 0
      let status = posix_spawnp(&child, "ls", &actions, nil, arguments, environ)
      close(ends[1])
      defer { close(ends[0]) }
      guard status == 0 else { return "no child" }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      var text = ""
      while case let count = read(ends[0], &bytes, bytes.count), count > 0 {
        text += String(decoding: bytes.prefix(count), as: UTF8.self)
      }
      waitpid(child, nil, 0)
      return text
    }
  }
#endif
