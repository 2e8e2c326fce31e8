#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationEvents
  internal import OperationFoundation

  /// What happens in the stores of a client, for pages.
  ///
  /// It looks at the client ten times a second, whatever happens there: it takes the events that have come since, and reads the
  /// states of the stores that they concern, a bounded number at a time.
  actor LiveFeed: Feed {
    /// The time between two looks.
    static let interval = Duration.milliseconds(100)
    /// The number of stores with events that are read at a look, and the number of other stores, whose values age.
    private static let (dirtyLimit, agingLimit) = (500, 50)
    /// The number of events that a page is told when it begins.
    private static let historyLimit = 4096
    nonisolated let client: OperationClient
    nonisolated let allowsActions: Bool
    nonisolated let simulation: Simulation?
    nonisolated let exhibits = Exhibits()
    private let bufferSize: Int
    private nonisolated let pump = TaskSlot()

    /// Pages and recordings. An end may be told before its beginning, so it may be negative for a moment.
    private var userCount = 0
    private var events: OperationEventSequence?
    private var index = StoreIndex()
    private var dirty: Set<OperationPath> = []
    private var history: [OperationEvent] = []
    private var connections: [FeedConnection] = []
    /// The tables of texts of recordings, by their connections.
    private var packers: [ObjectIdentifier: EventPacker] = [:]
    private var looks = 0
    private var droppedCount = 0
    private var shownExtras = ""

    /// Creates a feed, which keeps a number of events between two looks.
    init(_ client: OperationClient, allowsActions: Bool, simulation: Simulation?, bufferSize: Int = 32_768) {
      self.client = client
      self.allowsActions = allowsActions
      self.simulation = simulation
      self.bufferSize = bufferSize
    }

    /// Begins to read the events of the client, and to look at it.
    func begin() {
      self.userCount += 1
      guard self.userCount == 1 else { return }
      self.startReading()
      self.pump.set(
        Task { [weak self] in
          while (try? await Task.sleep(for: LiveFeed.interval)) != nil { await self?.look() }
        }
      )
    }

    /// Whether it reads the events of the client, which then makes them.
    var isReading: Bool { self.events != nil }

    /// Begins to read the events of the client.
    func startReading() {
      if self.events == nil { self.events = self.client.events(keeping: self.bufferSize) }
    }

    /// Ends all connections with the last user, stops reading events, and forgets what it has read.
    func end() {
      self.userCount -= 1
      guard self.userCount == 0 else { return }
      self.pump.set(nil)
      self.events = nil
      for connection in self.connections { connection.end() }
      self.connections = []
      (self.index, self.dirty, self.history) = (StoreIndex(), [], [])
    }

    func connect() -> FeedConnection { self.connect(limit: FeedConnection.standardLimit) }

    /// Begins to send messages, of which a number of bytes are kept until they are read.
    func connect(limit: Int, isPacked: Bool = false) -> FeedConnection {
      let connection = FeedConnection(limit: limit, isPacked: isPacked)
      self.connections.append(connection)
      self.look()
      return connection
    }

    /// Sends what has happened since the last look.
    func look() {
      self.looks += 1
      for connection in self.connections where connection.hasEnded {
        self.packers[ObjectIdentifier(connection)] = nil
      }
      self.connections.removeAll { $0.hasEnded }
      let new = self.takeEvents()
      guard !self.connections.isEmpty else { return }
      let beginning = self.connections.filter { $0.takeNeedOfBeginning() }
      let others = self.connections.filter { connection in !beginning.contains { $0 === connection } }
      if !others.isEmpty {
        if let update = self.update(with: new) {
          let pages = others.filter { !$0.isPacked }
          if !pages.isEmpty { self.send(update(nil), to: pages) }
          for recording in others where recording.isPacked { self.send(update(recording), to: [recording]) }
        }
        if self.looks.isMultiple(of: 50) { for connection in others { connection.send(FeedMessage.heartbeat) } }
      }
      if !beginning.isEmpty {
        self.readAll()
        let pages = beginning.filter { !$0.isPacked }
        if !pages.isEmpty { for message in self.beginning { self.send(message, to: pages) } }
        for recording in beginning where recording.isPacked {
          self.packers[ObjectIdentifier(recording)] = EventPacker()
          for message in self.beginning(for: recording) { self.send(message, to: [recording]) }
        }
      }
    }

    private func send(_ json: String, to connections: [FeedConnection]) {
      let message = FeedMessage.event(json)
      for connection in connections { connection.send(message) }
    }

    private func takeEvents() -> [OperationEvent] {
      guard let events = self.events else { return [] }
      let new = events.takeAll()
      for event in new { self.dirty.insert(event.path) }
      self.history += new
      // Not with each event: an array is shifted as a whole.
      if self.history.count > 2 * Self.historyLimit {
        self.history.removeFirst(self.history.count - Self.historyLimit)
      }
      return new
    }
  }

  // MARK: - Messages

  extension LiveFeed {
    /// What the page is and may do.
    nonisolated var hello: String {
      JSONText.object { json in
        json.member("type", "hello")
        json.member("version", 1)
        json.member("program", ProcessInfo.processInfo.processName)
        json.member("process", Int(ProcessInfo.processInfo.processIdentifier))
        json.flag("live", true)
        json.flag("actions", self.allowsActions)
        json.member("date", Date())
      }
    }

    /// The messages of a page that begins.
    var beginning: [String] {
      self.readAll()
      return self.beginning(for: nil)
    }

    /// The messages of a page or a recording that begins, from what was read.
    private func beginning(for connection: FeedConnection?) -> [String] {
      var messages = [self.hello]
      for rows in self.index.texts.chunks(of: 1000) {
        messages.append(Self.message { $0.array("stores", rows) })
      }
      for events in self.history.suffix(Self.historyLimit).chunks(of: 2048) {
        messages.append(Self.message { json in self.write(events, to: &json, for: connection) })
      }
      messages.append(
        Self.message { json in
          json.flag("ready", true)
          json.extras(self.extras())
        }
      )
      return messages
    }

    private static func message(_ members: (inout JSONText) -> Void) -> String {
      JSONText.object { json in
        json.member("type", "update")
        json.member("date", Date())
        members(&json)
      }
    }

    /// Writes events, for a recording in its compact form.
    private func write(
      _ events: some Collection<OperationEvent>,
      to json: inout JSONText,
      for connection: FeedConnection?
    ) {
      if let connection, connection.isPacked {
        self.packers[ObjectIdentifier(connection), default: EventPacker()]
          .write(events, to: &json) { self.index.id(at: $0) ?? 0 }
      } else {
        json.events(events) { self.index.id(at: $0) ?? 0 }
      }
    }

    /// What has changed since the last look, as the message for a page or a recording; nil if nothing has.
    private func update(with events: [OperationEvent]) -> ((FeedConnection?) -> String)? {
      let changes = self.readDirty()
      let extras = self.looks.isMultiple(of: 5) ? self.extras() : self.shownExtras
      let hasNewExtras = extras != self.shownExtras
      let dropped = self.events?.droppedCount ?? 0
      let hasDropped = dropped != self.droppedCount
      (self.shownExtras, self.droppedCount) = (extras, dropped)
      if events.isEmpty, changes.rows.isEmpty, changes.removed.isEmpty, !hasNewExtras, !hasDropped { return nil }
      return { connection in
        Self.message { json in
          if !changes.rows.isEmpty { json.array("stores", changes.rows) }
          if !changes.removed.isEmpty {
            json.key("removed")
            json.array { json in
              for id in changes.removed { json.value(id) }
            }
          }
          if !events.isEmpty { self.write(events, to: &json, for: connection) }
          if hasDropped { json.member("dropped", dropped) }
          if hasNewExtras { json.extras(extras) }
        }
      }
    }

    /// Limits and the like, and the simulation, as JSON.
    private func extras() -> String {
      JSONText.object { json in
        json.key("limits")
        json.array { json in
          for snapshot in self.exhibits.snapshots { json.value(snapshot) }
        }
        if let simulation = self.simulation {
          json.key("simulation")
          json.value(simulation.settings, held: simulation.heldPaths.compactMap { self.index.id(at: $0) })
        }
      }
    }
  }

  extension JSONText {
    fileprivate mutating func extras(_ json: String) {
      self.key("extras")
      self.raw(json)
    }

    fileprivate mutating func events(_ events: some Sequence<OperationEvent>, id: (OperationPath) -> Int) {
      self.key("events")
      self.array { json in
        for event in events { json.value(event, store: id(event.path)) }
      }
    }

    fileprivate mutating func array(_ name: String, _ texts: some Sequence<String>) {
      self.key(name)
      self.array { json in
        for text in texts { json.raw(text) }
      }
    }
  }

  extension Collection {
    fileprivate func chunks(of size: Int) -> [SubSequence] {
      var (chunks, rest): ([SubSequence], SubSequence) = ([], self[...])
      while !rest.isEmpty {
        chunks.append(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      return chunks
    }
  }

  // MARK: - Reading stores

  extension LiveFeed {
    /// The store with an id of ``StoreRow/id``.
    func store(_ id: Int) -> OpaqueOperationStore? {
      self.index.path(of: id).flatMap { self.client.store(with: $0) }
    }

    /// The ids of the stores that are known.
    var knownIDs: [Int] { self.index.ids }

    /// All rows as JSON, read now where something has happened.
    var allRows: String {
      _ = self.takeEvents()
      self.readAll()
      return Self.message { json in
        json.array("stores", self.index.texts)
        json.extras(self.extras())
      }
    }

    /// Reads the stores that are not known, and those with events, whatever their number.
    private func readAll() {
      var present: Set<OperationPath> = []
      for store in self.client.stores() {
        present.insert(store.path)
        if self.dirty.contains(store.path) || self.index.id(at: store.path) == nil { self.index.read(store) }
      }
      for path in self.index.paths where !present.contains(path) { self.index.remove(path) }
      self.dirty = []
    }

    /// Reads some of the stores with events, and some of those that only age.
    private func readDirty() -> (rows: [String], removed: [Int]) {
      var (rows, removed): ([String], [Int]) = ([], [])
      for path in Array(self.dirty.prefix(Self.dirtyLimit)) + self.index.nextPaths(Self.agingLimit) {
        self.dirty.remove(path)
        if let store = self.client.store(with: path) {
          if let row = self.index.read(store) { rows.append(row) }
        } else if let id = self.index.remove(path) {
          removed.append(id)
        }
      }
      return (rows, removed)
    }
  }
#endif
