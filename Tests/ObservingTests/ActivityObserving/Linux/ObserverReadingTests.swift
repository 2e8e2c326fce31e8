#if os(Linux)
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationActivityObserving

  /// `isActive` and the first value of a new subscriber are the same at any time.
  @Suite(.bounded, .warningsAreIssues) struct ObserverReadingTests {
    private let system = FakeSystem()
    private let observer = Box<SignalActivityObserver?>(nil)
    private let readings = Box<[Bool]>([])

    /// An observer that is marked and read when it starts and when it stops.
    private func markedObserver() -> SignalActivityObserver {
      let loop = EventLoop()
      var configuration = ActivityMonitor.Configuration(options: .countsBackgroundAsActive)
      configuration.procRoot = self.system.folder
      configuration.loop = loop
      configuration.files = FileWatcher(loop: loop)
      configuration.relay = { _, _ in
        self.mark()
        return OperationSubscription { self.mark() }
      }
      return SignalActivityObserver(configuration)
    }

    /// Makes a change, and reads the value in both ways.
    private func mark() {
      guard let observer = self.observer.value else { return }
      if observer.isActive { observer.markInactive() } else { observer.markActive() }
      self.readings.value.append(observer.isActive)
      observer.subscribe { self.readings.value.append($0) }.cancel()
    }

    @Test func `A mark made while the observer starts or stops is received by a new subscriber`() async {
      let observer = self.markedObserver()
      self.observer.value = observer
      let subscription = observer.subscribe { _ in }
      await observer.settled()
      expect(self.readings.value, equals: [false, false])
      subscription.cancel()
      await observer.settled()
      expect(Array(self.readings.value.prefix(4)), equals: [false, false, true, true])
      self.observer.value = nil
    }
  }
#endif
