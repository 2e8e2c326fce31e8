#if os(Linux)
  internal import OperationCore
  internal import OperationEventLoop
  internal import Synchronization

  /// The dependencies and the delays of a watch.
  struct WatchSettings: Sendable {
    var system = NetworkSystem.current
    var loop = EventLoop.shared
    var deadlines: any DeadlineSource = LoopDeadlines(loop: .shared)
    /// How long no change may arrive before the network is read.
    var quietPeriod = Duration.milliseconds(50)
    /// The longest time from a change until the network is read.
    var maximumDelay = Duration.milliseconds(250)
    /// How long a status must stay lower before it is reported.
    var holdOff = Duration.milliseconds(400)
    /// Runs a closure that calls the subscribers: not on the thread of the loop, which serves other callbacks.
    var deliver: @Sendable (@escaping @Sendable () -> Void) -> Void = { body in Task { body() } }
  }

  /// Follows the network from the first subscriber to the last.
  ///
  /// A change message is only a hint: the kernel loses messages, and sends none for routes that are removed with their
  /// link. After a quiet period the network is read again, and only that reading counts.
  final class NetworkWatch: Sendable {
    private struct State {
      var reader: NetworkReader
      var status: SteadyStatus
      /// When the first change arrived that has not been read yet.
      var firstChange: Duration?
      /// How many attempts in a row have found no method of reading.
      var failureCount = 0
      var registration: EventLoop.Registration?
      var isStopped = false
    }

    /// The status and its subscribers.
    let broadcast: Broadcast<NetworkConnectionStatus>

    private let settings: WatchSettings
    private let target: NetworkTarget
    private let state: Locked<State>
    private let reading: Alarm
    private let holdOff: Alarm

    /// Reads the network for the first time.
    init(for target: NetworkTarget, _ settings: WatchSettings) {
      let (reader, reading) = NetworkReader.open(settings.system, for: target)
      let status = target.status(reading)
      self.settings = settings
      self.target = target
      self.broadcast = Broadcast(status)
      self.state = Locked(State(reader: reader, status: SteadyStatus(status)))
      self.reading = Alarm(settings.deadlines)
      self.holdOff = Alarm(settings.deadlines)
    }

    deinit {
      self.stop()
    }
  }

  // MARK: - Following

  extension NetworkWatch {
    /// Follows changes from the first reading on.
    func start() {
      self.follow(self.state.withLock { $0.reader })
    }

    /// Stops watching. Nothing is read or reported afterwards.
    func stop() {
      let registration = self.state.withLock { state in
        state.isStopped = true
        return state.registration.take()
      }
      registration?.cancel()
      self.reading.cancel()
      self.holdOff.cancel()
    }

    private func follow(_ reader: NetworkReader) {
      if let interval = reader.interval { self.read(after: self.delay(interval, for: reader)) }
      let registration = reader.feed.map { feed in
        self.settings.loop.watch(feed.descriptor, for: .readable) { [weak self] events in
          self?.receiveChange(from: feed, events)
        }
      }
      let obsolete = self.state.withLock { state in
        guard !state.isStopped, state.reader === reader else { return registration }
        defer { state.registration = registration }
        return state.registration
      }
      obsolete?.cancel()
    }

    /// The delay before the next reading. It grows while no method of reading works.
    private func delay(_ interval: Duration, for reader: NetworkReader) -> Duration {
      guard case .none(let failure) = reader.method else {
        self.state.withLock { $0.failureCount = 0 }
        return interval
      }
      NetworkWatch.reportFailure(failure)
      let count = self.state.withLock { state in
        state.failureCount += 1
        return state.failureCount
      }
      return min(interval * (1 << min(count - 1, 6)), .seconds(60))
    }

    private func receiveChange(from feed: any NetworkChangeFeed, _ events: EventLoop.Events) {
      if events.contains(.invalid) { return self.reopen() }
      guard feed.drain() else { return }
      let now = self.settings.deadlines.elapsed
      let first = self.state.withLock { state in
        let first = state.firstChange ?? now
        state.firstChange = first
        return first
      }
      self.read(after: min(self.settings.quietPeriod, max(first + self.settings.maximumDelay - now, .zero)))
    }

    private func read(after delay: Duration) {
      self.reading.set(after: delay) { [weak self] in self?.read() }
    }
  }

  // MARK: - Reading

  extension NetworkWatch {
    private func read() {
      let reader: NetworkReader? = self.state.withLock { state in
        state.firstChange = nil
        return state.isStopped ? nil : state.reader
      }
      guard let reader else { return }
      guard reader.feed != nil else { return self.reopen() }
      do {
        let reading = try reader.read()
        self.update(with: reading)
        if case .snapshot(_, isUncertain: true) = reading { self.read(after: self.settings.quietPeriod) }
      } catch {
        self.reopen()
      }
    }

    /// Starts over with the best method, after the current one has failed or because it was not the best.
    private func reopen() {
      let (reader, reading) = NetworkReader.open(self.settings.system, for: self.target)
      let isStopped = self.state.withLock { state, released in
        if state.isStopped { return true }
        released.append(state.reader)
        state.reader = reader
        return false
      }
      guard !isStopped else { return }
      self.follow(reader)
      self.update(with: reading)
    }

    private func update(with reading: NetworkReading) {
      let status = self.target.status(reading)
      let step = self.state.withLock { state in state.isStopped ? .nothing : state.status.update(status) }
      switch step {
      case .nothing: break
      case .report(let status):
        self.holdOff.cancel()
        self.report(status)
      case .wait: self.holdOff.set(after: self.settings.holdOff) { [weak self] in self?.endWait() }
      case .stopWaiting: self.holdOff.cancel()
      }
    }

    private func endWait() {
      let status = self.state.withLock { state in state.isStopped ? nil : state.status.endWait() }
      if let status { self.report(status) }
    }

    private func report(_ status: NetworkConnectionStatus) {
      // The status is the current one at once, also for a new subscriber.
      guard self.broadcast.enqueue(status) else { return }
      self.settings.deliver { [broadcast] in broadcast.deliver() }
    }
  }

  extension NetworkWatch {
    private static let reportedFailures = Mutex<Set<SystemFailure?>>([])

    /// Reports each reason once.
    private static func reportFailure(_ failure: SystemFailure?) {
      guard self.reportedFailures.withLock({ $0.insert(failure).inserted }) else { return }
      let remedy =
        failure?.isShortage ?? false
        ? "It is tried again from time to time. Raise the limits of the process."
        : "Allow it AF_NETLINK or AF_INET sockets, or use another observer."
      OperationWarning(
        code: .networkNotObservable,
        severity: .failure,
        message: """
          The process can neither read the state of the network nor open a socket\
          \(failure.map { " (\($0.call): \($0.reason))" } ?? ""), so the network counts as connected. \(remedy)
          """
      ).report()
    }
  }

  extension OperationWarning.Code {
    fileprivate static let networkNotObservable = Self(description: "networkNotObservable")
  }
#endif
