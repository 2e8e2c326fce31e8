#if os(Linux)
  import Glibc
  import OperationCore
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationEventLoop

  @Suite(.bounded) struct LifetimeTests {
    private let loop = EventLoop()

    /// The identifier of the loop's thread, and the file of its pipe.
    private func findThread() async throws -> (thread: String, pipe: String) {
      let (thread, known) = (Box<String?>(nil), Gate())
      let registration = self.loop.schedule(after: .zero) {
        thread.value = Process.currentThread
        known.open()
      }
      try await known.wait()
      registration.cancel()
      let reader = try #require(self.loop.state.withLock { $0.runner?.pipe.reader })
      return (try #require(thread.value), try #require(Process.file(reader)))
    }

    @Test func `The thread and its descriptors exist from the first registration to the last`() async throws {
      #expect(!self.loop.isRunning)
      var threads: Set<String> = []
      for _ in 0..<5 {
        let registrations = (0..<10).map { _ in self.loop.schedule(after: .seconds(3_600)) {} }
        #expect(self.loop.isRunning)
        let (thread, pipe) = try await self.findThread()
        expect(RunningThreads.name(of: thread), equals: "operation-loop")
        #expect(Process.hasOpen(pipe))
        for registration in registrations { registration.cancel() }
        #expect(!self.loop.isRunning)
        #expect(!RunningThreads.contains(thread))
        #expect(!Process.hasOpen(pipe))
        threads.insert(thread)
      }
      expect(threads.count, equals: 5)
    }

    @Test func `A registration that is dropped is cancelled`() async throws {
      let lifetimes = LifetimeTracker()
      do {
        let registration = self.loop.repeat(every: .seconds(3_600)) { [token = lifetimes.token()] in token.touch() }
        #expect(self.loop.isRunning)
        withExtendedLifetime(registration) {}
      }
      expect(lifetimes.aliveCount, equals: 0)
      #expect(!self.loop.isRunning)
    }

    @Test func `A thread whose last registration is cancelled by a callback ends by itself`() async throws {
      let pipe = Pipe()
      let box = Box<EventLoop.Registration?>(nil)
      let cancelled = Gate()
      box.value = self.loop.watch(pipe.reader, for: .readable) { _ in
        box.value?.cancel()
        box.value?.cancel()
        cancelled.open()
      }
      pipe.send()
      try await cancelled.wait()
      box.value?.cancel()
      #expect(!self.loop.isRunning)
    }

    @Test func `All signals are blocked in the thread, and the mask of the caller stays as it was`() async throws {
      var before = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &before)
      let (blocked, known) = (Log<Bool>(), Gate())
      let registration = self.loop.schedule(after: .zero) {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGCONT, SIGUSR1, SIGALRM, SIGCHLD] {
          blocked.append(sigismember(&mask, signal) == 1)
        }
        known.open()
      }
      var after = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &after)
      #expect((1..<32).allSatisfy { sigismember(&before, $0) == sigismember(&after, $0) })
      try await known.wait()
      registration.cancel()
      expect(blocked.all, equals: Array(repeating: true, count: 7))
    }
  }
#endif
