#if os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationActivityObserving

  /// An observer of a fake system. It handles no signal of the test process.
  @Suite(.bounded, .warningsAreIssues)
  struct SignalActivityObserverTests {
    private let system = FakeSystem()
    private let loop = EventLoop()
    private let receiver = Receiver<Bool>()

    private func observer(
      _ options: SignalActivityObserver.Options = .countsBackgroundAsActive
    ) -> SignalActivityObserver {
      var configuration = ActivityMonitor.Configuration(options: options)
      configuration.inactive = [.usr1]
      configuration.active = [.usr2]
      configuration.procRoot = self.system.folder
      configuration.loop = self.loop
      configuration.files = FileWatcher(loop: self.loop)
      configuration.sleepInterval = .milliseconds(5)
      configuration.foregroundInterval = .milliseconds(5)
      configuration.timeAsleep = { [system = self.system] in system.timeAsleep.value ?? .zero }
      configuration.noteWakeUp = { [system = self.system] in system.wakeUps.increment() }
      configuration.isForeground = { [system = self.system] in system.isForeground.value }
      configuration.relay = { [system = self.system] in system.subscribe(to: $0, $1) }
      return SignalActivityObserver(configuration)
    }

    @Test func `Unless the foreground is watched, no timer is faster than five seconds`() {
      let configuration = ActivityMonitor.Configuration(options: .countsBackgroundAsActive)
      expect(configuration.sleepInterval, equals: .seconds(5))
      expect(configuration.foregroundInterval, equals: .seconds(1))
    }

    @Test func `A subscriber receives the current value at once, and then the marks in order`() async throws {
      let observer = self.observer()
      observer.markInactive()
      #expect(!observer.isActive)
      let subscription = observer.subscribe(self.receiver.receive)
      expect(self.receiver.all, equals: [false])
      await observer.settled()
      observer.markActive()
      observer.markInactive()
      observer.markActive()
      await observer.settled()
      expect(self.receiver.all, equals: [false, true, false, true])
      #expect(observer.isActive)
      subscription.cancel()
      observer.markInactive()
      await observer.settled()
      expect(self.receiver.all.count, equals: 4)
    }

    @Test func `A mark that is set while the observer starts is reported`() async throws {
      for _ in 0..<200 {
        let observer = self.observer()
        let receiver = Receiver<Bool>()
        let subscription = observer.subscribe(receiver.receive)
        observer.markInactive()
        await observer.settled()
        expect(receiver.all, equals: [true, false])
        subscription.cancel()
        await observer.settled()
      }
    }

    @Test func `While there are subscribers, signals mark the process and report that it continues`() async throws {
      let observer = self.observer()
      let subscription = observer.subscribe(self.receiver.receive)
      await observer.settled()
      self.system.send(.cont)
      self.system.send(.usr1)
      self.system.send(.cont)
      self.system.send(.usr2)
      await observer.settled()
      expect(self.receiver.all, equals: [true, false, true, false, true])
      subscription.cancel()
      await observer.settled()
      expect(self.system.handlerCount, equals: 0)
    }

    @Test func `A sleep of the machine reports inactive and active, unlike the time between two readings`() async throws
    {
      let observer = self.observer()
      let subscription = observer.subscribe(self.receiver.receive)
      await observer.settled()
      self.system.timeAsleep.value = .milliseconds(900)
      try await self.system.ticks(of: self.loop, 3)
      expect(self.receiver.all, equals: [true])
      expect(self.system.wakeUps.value, equals: 0)
      self.system.timeAsleep.value = .seconds(60)
      try await self.receiver.values(count: 3)
      expect(self.receiver.all, equals: [true, false, true])
      // Deadlines that were overdue are told before.
      expect(self.system.wakeUps.value, equals: 1)
      subscription.cancel()
    }

    @Test func `The foreground is read if the background does not count as active`() async throws {
      self.system.isForeground.value = false
      let observer = self.observer([.watchesForeground])
      let subscription = observer.subscribe(self.receiver.receive)
      expect(self.receiver.all, equals: [false])
      self.system.isForeground.value = true
      try await self.receiver.values(count: 2)
      self.system.isForeground.value = false
      try await self.receiver.values(count: 3)
      expect(self.receiver.all, equals: [false, true, false])
      subscription.cancel()
    }

    @Test func `A thaw of the control group reports inactive and active`() async throws {
      try self.system.writeGroup(frozen: 0)
      let observer = self.observer()
      let subscription = observer.subscribe(self.receiver.receive)
      await observer.settled()
      try self.system.writeGroup(frozen: 0)
      try await self.receiver.values(count: 3)
      expect(self.receiver.all, equals: [true, false, true])
      subscription.cancel()
    }

    @Test func `A process that reads that its group is frozen reports nothing`() async throws {
      try self.system.writeGroup(frozen: 0)
      let observer = self.observer()
      let subscription = observer.subscribe(self.receiver.receive)
      await observer.settled()
      try self.system.writeGroup(frozen: 1)
      try await self.loop.settle()
      await observer.settled()
      #expect(observer.isActive)
      expect(self.receiver.all, equals: [true])
      subscription.cancel()
    }

    @Test func `Nothing is left when the last subscription is cancelled`() async throws {
      try self.system.writeGroup(frozen: 0)
      let observer = self.observer()
      for _ in 0..<3 {
        let first = observer.subscribe { _ in }
        let second = observer.subscribe { _ in }
        await observer.settled()
        #expect(self.loop.isRunning)
        expect(self.system.handlerCount, equals: 3)
        first.cancel()
        await observer.settled()
        #expect(self.loop.isRunning)
        second.cancel()
        await observer.settled()
        #expect(!self.loop.isRunning)
        expect(self.system.handlerCount, equals: 0)
      }
    }

    @Test func `A store reruns its stale query when the process continues`() async throws {
      let observer = self.observer()
      let script = OperationScript<Int, any Error>(default: .value(1))
      let query = script.query()
        .rerunOnChange(of: .applicationIsActive(observer: observer))
        .enableAutomaticRunning(onlyWhen: .always(true))
        .stale(after: .zero)
      let store = OperationStore.detached(query: query)
      let subscription = store.subscribe(with: QueryEventHandler())
      try await script.runs(count: 1)
      try await script.noActiveRuns()
      await observer.settled()
      self.system.send(.cont)
      try await script.runs(count: 2)
      try await script.noActiveRuns()
      await observer.settled()
      self.system.send(.cont)
      try await script.runs(count: 3)
      subscription.cancel()
    }

    @Test(arguments: [ProcessSignal(rawValue: 15), ProcessSignal(rawValue: 2), ProcessSignal(rawValue: 9)])
    func `Signals that end the process are refused`(_ signal: ProcessSignal) {
      expectWarning(.init(description: "signalInUse")) { _ = SignalActivityObserver(inactive: [signal]) }
    }

    @Test(arguments: [0, __libc_current_sigrtmax() + 1] + Array(32..<__libc_current_sigrtmin()))
    func `Signals that a process cannot handle are refused`(_ number: CInt) {
      let signal = ProcessSignal(rawValue: number)
      expectWarning(.init(description: "signalInUse")) { _ = SignalActivityObserver(inactive: [signal]) }
    }

    @Test(arguments: [SIGUSR1, SIGWINCH, __libc_current_sigrtmin(), __libc_current_sigrtmax()])
    func `Signals that are free for use are accepted`(_ number: CInt) {
      expect(ProcessSignal(rawValue: number).refusal, equals: nil)
    }
  }
#endif
