#if SwiftOperationMetrics
  internal import CoreMetrics
  internal import OperationCore
  internal import Synchronization

  /// The counters and meters of notices. They are created with the first notice of a name.
  ///
  /// The number of names is bounded, because a backend keeps a series for each.
  final class NoticeMeters: Sendable {
    /// The name of the operation for a notice without one.
    static let noOperation = "none"
    /// The name for notices above the maximum number of names.
    static let otherName = "other"
    /// The maximum number of names of notices for each operation. Notices with other names are counted together.
    static let maximumNames = 100

    private struct State {
      /// By operation, then by notice.
      var counters: [String: [String: Counter]] = [:]
      var levels: [String: Meter] = [:]
    }

    private let factory: @Sendable () -> any MetricsFactory
    private let operations: OperationNames
    private let state = Mutex(State())

    init(_ factory: @escaping @Sendable () -> any MetricsFactory, _ operations: OperationNames) {
      self.factory = factory
      self.operations = operations
    }

    /// Counts a notice of an operation's runs.
    func count(_ notice: OperationNotice.Name, of operation: String) {
      self.counter(notice.description, of: self.operations.name(operation)).increment()
    }

    /// Shows the number that a notice reports.
    func show(_ level: Int, of name: OperationNotice.Name) {
      self.meter(name.description).set(level)
    }

    private func counter(_ notice: String, of operation: String) -> Counter {
      let (known, name) = self.state.withLock { state in
        let counters = state.counters[operation] ?? [:]
        let name = Self.name(notice, among: counters)
        return (counters[name], name)
      }
      if let known { return known }
      // The backend is user code, so no lock is held. If two callers create a counter at once, the second one is
      // discarded.
      let dimensions = [("operation", operation), ("notice", name)]
      let made = Counter(label: "operation.notices", dimensions: dimensions, factory: self.factory())
      return self.state.withLock { state in
        if let known = state.counters[operation]?[name] { return known }
        state.counters[operation, default: [:]][name] = made
        return made
      }
    }

    private func meter(_ level: String) -> Meter {
      let (known, name) = self.state.withLock { state in
        let name = Self.name(level, among: state.levels)
        return (state.levels[name], name)
      }
      if let known { return known }
      let made = Meter(label: "operation.level", dimensions: [("level", name)], factory: self.factory())
      return self.state.withLock { state in
        if let known = state.levels[name] { return known }
        state.levels[name] = made
        return made
      }
    }

    /// Returns the name that a notice is counted by: its own, unless there are too many others.
    private static func name<Value>(_ name: String, among known: [String: Value]) -> String {
      known.count < self.maximumNames || known[name] != nil ? name : self.otherName
    }
  }
#endif
