#if SwiftOperationPostgreSQL
  /// Which caller gets which connection, and when another one is opened.
  ///
  /// Callers get connections in the order in which they came. While the server does not answer, one attempt to open a
  /// connection is made at a time, after a pause that grows.
  struct PoolMachine<Connection: AnyObject & Sendable>: Sendable {
    /// What is done after the lock is released.
    struct Actions: Sendable {
      /// The callers that get a connection.
      var grants: [(caller: UInt64, Connection)] = []
      /// The callers whose wait has failed.
      var failures: [(caller: UInt64, PostgreSQLError)] = []
      /// How many connections are to be opened now.
      var openingCount = 0
      /// How many attempts to open one have failed in a row, if the next one has to wait.
      var pause: Int?
      /// The connections to close.
      var closing: [Connection] = []
    }

    let maximumConnections: Int
    let maximumCallers: Int
    /// Whether callers wait for a server that does not answer, up to their time limits.
    let isPatient: Bool
    let name: String

    private(set) var isClosed = false
    private var idle: [Connection] = []
    private var busy: [ObjectIdentifier: Connection] = [:]
    /// How many of the idle connections, from the first, were not used since the last sweep.
    private var unusedCount = 0
    private var openingCount = 0
    private var callers = CallerLine()
    private var failureCount = 0
    private var isPausing = false
    private var lastError: PostgreSQLError?

    init(maximumConnections: Int, maximumCallers: Int, isPatient: Bool = true, name: String) {
      self.maximumConnections = maximumConnections
      self.isPatient = isPatient
      self.maximumCallers = maximumCallers
      self.name = name
    }

    /// The number of connections, with those that are being opened.
    var connectionCount: Int { self.idle.count + self.busy.count + self.openingCount }

    var callerCount: Int { self.callers.count }

    /// The numbers of connections that are not in use, are in use, and are being opened.
    var counts: (idle: Int, busy: Int, opening: Int) { (self.idle.count, self.busy.count, self.openingCount) }

    /// Why the last connection could not be opened; nil if it could.
    var lastFailure: PostgreSQLError? { self.lastError }

    // MARK: - Callers

    /// A caller wants a connection.
    mutating func acquire(_ caller: UInt64) -> Actions {
      var actions = Actions()
      if self.isClosed {
        actions.failures = [(caller, .closed(self.name))]
      } else if self.callers.count >= self.maximumCallers {
        actions.failures = [(caller, self.tooManyCallers)]
      } else if self.isPausing, self.connectionCount == 0, let lastError, !self.isAwaited(after: lastError) {
        actions.failures = [(caller, lastError)]
      } else {
        self.callers.append(caller)
        self.serve(&actions)
      }
      return actions
    }

    /// A caller no longer waits. Returns whether it did, and what has kept it waiting.
    mutating func leave(_ caller: UInt64) -> (hasWaited: Bool, PostgreSQLError?) {
      (self.callers.remove(caller), self.lastError)
    }

    // MARK: - Connections

    /// A connection has made its statement.
    mutating func release(_ connection: Connection) -> Actions {
      var actions = Actions()
      guard self.busy.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return actions }
      if self.isClosed { actions.closing = [connection] } else { self.idle.append(connection) }
      self.serve(&actions)
      return actions
    }

    /// A connection has made its last statement.
    mutating func retire(_ connection: Connection) -> Actions {
      var actions = Actions()
      guard self.busy.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return actions }
      actions.closing = [connection]
      self.serve(&actions)
      return actions
    }

    /// A connection is gone.
    mutating func remove(_ connection: Connection) -> Actions {
      var actions = Actions()
      self.busy[ObjectIdentifier(connection)] = nil
      self.idle.removeAll { $0 === connection }
      self.unusedCount = min(self.unusedCount, self.idle.count)
      if self.isPausing { self.failUnlessServed(&actions) }
      self.serve(&actions)
      return actions
    }

    /// A connection was opened.
    mutating func didOpen(_ connection: Connection) -> Actions {
      var actions = Actions()
      self.openingCount -= 1
      self.failureCount = 0
      self.lastError = nil
      if self.isClosed { actions.closing = [connection] } else { self.idle.append(connection) }
      self.serve(&actions)
      return actions
    }

    /// A connection could not be opened.
    mutating func didFail(_ error: PostgreSQLError) -> Actions {
      var actions = Actions()
      self.openingCount -= 1
      self.failureCount += 1
      self.lastError = error
      self.failUnlessServed(&actions)
      if !self.isPausing, !self.isClosed {
        self.isPausing = true
        actions.pause = self.failureCount
      }
      return actions
    }

    /// The pause after a failure is over.
    mutating func endPause() -> Actions {
      var actions = Actions()
      self.isPausing = false
      self.serve(&actions)
      return actions
    }

    /// Closes the connections that were not used since the last sweep, but for one.
    mutating func sweep() -> Actions {
      var actions = Actions()
      let count = min(self.unusedCount, self.connectionCount - 1)
      if count > 0 {
        actions.closing = Array(self.idle.prefix(count))
        self.idle.removeFirst(count)
      }
      self.unusedCount = self.idle.count
      return actions
    }

    /// Closes the connections that are not in use, and the others when they are released.
    mutating func close() -> Actions {
      var actions = Actions()
      self.isClosed = true
      actions.closing = self.idle
      actions.failures = self.callers.removeAll().map { ($0, .closed(self.name)) }
      self.idle = []
      self.unusedCount = 0
      return actions
    }

    /// Fails the callers that will not be served. Those that wait for a connection in use get it, also if the server has refused one more.
    private mutating func failUnlessServed(_ actions: inout Actions) {
      guard self.idle.isEmpty, self.busy.isEmpty, let lastError, !self.isAwaited(after: lastError) else { return }
      actions.failures += self.callers.removeAll().map { ($0, lastError) }
    }

    /// Whether callers wait for the next attempt. Where nothing but a change of the server helps, none does.
    private func isAwaited(after error: PostgreSQLError) -> Bool { self.isPatient && error.isTransient }

    private mutating func serve(_ actions: inout Actions) {
      // The connection that was used last is used next, so that the others may be closed by a pooler in between.
      while let connection = self.idle.last, let caller = self.callers.popFirst() {
        self.idle.removeLast()
        self.unusedCount = min(self.unusedCount, self.idle.count)
        self.busy[ObjectIdentifier(connection)] = connection
        actions.grants.append((caller, connection))
      }
      guard !self.isClosed, !self.isPausing else { return }
      let limit = self.failureCount > 0 ? 1 : self.maximumConnections
      while self.callers.count > self.openingCount, self.openingCount < limit,
        self.connectionCount < self.maximumConnections
      {
        self.openingCount += 1
        actions.openingCount += 1
      }
    }

    private var tooManyCallers: PostgreSQLError {
      PostgreSQLError(
        code: .busy,
        message: """
          \(self.maximumCallers) calls wait for a connection to \(self.name). Pass a higher `maximumConnections`, or limit \
          the calls.
          """
      )
    }
  }

  /// The callers that wait, in order. Each of them can leave.
  private struct CallerLine: Sendable {
    private var order: [UInt64] = []
    private var start = 0
    private var waiting: Set<UInt64> = []

    var count: Int { self.waiting.count }

    mutating func append(_ caller: UInt64) {
      self.order.append(caller)
      self.waiting.insert(caller)
    }

    mutating func remove(_ caller: UInt64) -> Bool {
      let isRemoved = self.waiting.remove(caller) != nil
      if self.waiting.isEmpty { self.forget() } else { self.compact() }
      return isRemoved
    }

    mutating func popFirst() -> UInt64? {
      while self.start < self.order.count {
        let caller = self.order[self.start]
        self.start += 1
        if self.waiting.remove(caller) != nil {
          if self.waiting.isEmpty { self.forget() }
          return caller
        }
      }
      self.forget()
      return nil
    }

    mutating func removeAll() -> [UInt64] {
      let callers = self.order[self.start...].filter(self.waiting.contains)
      self.waiting = []
      self.forget()
      return callers
    }

    private mutating func forget() {
      self.order = []
      self.start = 0
    }

    /// Drops those who have left, so that the line stays within twice its callers.
    private mutating func compact() {
      guard self.order.count - self.start > 2 * self.waiting.count + 16 else { return }
      self.order = self.order[self.start...].filter(self.waiting.contains)
      self.start = 0
    }
  }
#endif
