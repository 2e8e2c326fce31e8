import OperationPagination

/// The expected behaviour of a store of pages, with arrays and a counter for the time.
struct ListModel {
  struct Entry: Equatable {
    let id: Int
    var value: String
    /// When it was written, or when the run that has fetched it started.
    var time: Int
  }

  /// An active call.
  struct Call {
    let request: PagingRequest
    let isPrevious: Bool
    let beginning: Int
    let known: Set<Int>
    /// The page that is being fetched.
    var target: Int
    var fetched: [Entry] = []
    var limit = 1
    var hasYielded = false
    var before: ListModel.Pages?
  }

  /// The part of the state that a yield changes and a cancellation restores.
  struct Pages: Equatable {
    var entries: [Entry] = []
    var updates = 0
    var hasError = false
    var errors = 0
  }

  var pages = Pages()
  var calls: [Int: Call] = [:]
  var bounds = -4...6
  private var time = 0

  var entries: [Entry] { self.pages.entries }

  mutating func tick() -> Int {
    self.time += 1
    return self.time
  }

  func id(after entries: [Entry]) -> Int? {
    guard let last = entries.last, last.id + 1 <= self.bounds.upperBound else { return nil }
    return entries.contains { $0.id == last.id + 1 } ? nil : last.id + 1
  }

  func id(before entries: [Entry]) -> Int? {
    guard let first = entries.first, first.id - 1 >= self.bounds.lowerBound else { return nil }
    return entries.contains { $0.id == first.id - 1 } ? nil : first.id - 1
  }

  var nextId: Int? { self.entries.isEmpty ? 0 : self.id(after: self.entries) }
  var previousId: Int? { self.entries.isEmpty ? 0 : self.id(before: self.entries) }

  func isLoading(_ request: PagingRequest) -> Bool { self.calls.values.contains { $0.request == request } }
}

// MARK: - Calls

extension ListModel {
  enum Request: Hashable {
    case next
    case previous
    case all
    case run
  }

  func request(for requestKind: Request) -> PagingRequest {
    switch requestKind {
    case .next: self.entries.isEmpty ? .initialPage : .nextPage
    case .previous: self.entries.isEmpty ? .initialPage : .previousPage
    case .all: .allPages
    case .run: self.entries.isEmpty ? .initialPage : .allPages
    }
  }

  /// Whether a call would start at once, and not wait for another.
  func beginsAtOnce(_ request: PagingRequest) -> Bool {
    switch request {
    case .initialPage: !self.isLoading(.initialPage)
    case .nextPage, .previousPage: ![.initialPage, .allPages, request].contains { self.isLoading($0) }
    case .allPages: self.calls.isEmpty
    }
  }

  /// Starts a call. Returns false if there is nothing to fetch.
  mutating func begin(_ number: Int, _ requestKind: Request) -> Bool {
    let request = self.request(for: requestKind)
    let beginning = self.tick()
    let target: Int? =
      switch request {
      case .initialPage: 0
      case .nextPage: self.id(after: self.entries)
      case .previousPage: self.id(before: self.entries)
      case .allPages: self.entries.first?.id
      }
    guard let target else {
      // While another call is active, a run starts although there is nothing to fetch, and its success clears the
      // error. Otherwise no run starts.
      if !self.calls.isEmpty { self.pages.hasError = false }
      return false
    }
    var call = Call(
      request: request,
      isPrevious: requestKind == .previous,
      beginning: beginning,
      known: Set(self.entries.map(\.id)),
      target: target
    )
    if request == .allPages { call.limit = self.entries.count }
    self.calls[number] = call
    return true
  }

  /// Receives the page of a call. Returns false if the call fetches another one.
  mutating func succeed(_ number: Int, with value: String) -> Bool {
    guard var call = self.calls[number] else { return true }
    call.fetched.append(Entry(id: call.target, value: value, time: call.beginning))
    if call.request == .allPages, call.fetched.count < call.limit, let next = self.id(after: call.fetched) {
      call.target = next
      self.calls[number] = call
      return false
    }
    self.calls[number] = nil
    if call.request == .allPages {
      self.finishAll(call)
    } else {
      self.finish(call.fetched[0], of: call)
    }
    self.pages.updates += 1
    self.pages.hasError = false
    return true
  }

  mutating func fail(_ number: Int) {
    self.calls[number] = nil
    self.pages.hasError = true
    self.pages.errors += 1
  }

  mutating func cancel(_ number: Int) {
    if let before = self.calls[number]?.before { self.pages = before }
    self.calls[number] = nil
  }

  mutating func yield(_ number: Int, _ value: String) {
    guard var call = self.calls[number] else { return }
    if call.before == nil { call.before = self.pages }
    call.hasYielded = true
    self.calls[number] = call
    let entry = Entry(id: call.target, value: value, time: call.beginning)
    if call.request != .allPages || self.entries.contains(where: { $0.id == entry.id }) { self.finish(entry, of: call) }
    self.pages.updates += 1
    self.pages.hasError = false
  }
}

// MARK: - Finish

extension ListModel {
  private mutating func finish(_ entry: Entry, of call: Call) {
    if let index = self.entries.firstIndex(where: { $0.id == entry.id }) {
      if self.entries[index].time <= call.beginning { self.pages.entries[index] = entry }
    } else if call.isPrevious {
      self.pages.entries.insert(entry, at: 0)
    } else {
      self.pages.entries.append(entry)
    }
  }

  private mutating func finishAll(_ call: Call) {
    guard let firstKnown = self.entries.firstIndex(where: { call.known.contains($0.id) }) else { return }
    let fetchedIds = Set(call.fetched.map(\.id))
    func isNew(_ entry: Entry) -> Bool { !call.known.contains(entry.id) && !fetchedIds.contains(entry.id) }
    let leading = self.entries[..<firstKnown].filter(isNew)
    let trailing = self.entries[firstKnown...].filter(isNew)
    let middle = call.fetched.compactMap { fresh -> Entry? in
      guard let present = self.entries.first(where: { $0.id == fresh.id }) else {
        return call.known.contains(fresh.id) ? nil : fresh
      }
      return present.time > call.beginning ? present : fresh
    }
    self.pages.entries = leading + middle + trailing
  }
}

// MARK: - Edits

extension ListModel {
  mutating func edit(_ change: (inout [Entry], _ time: Int) -> Void) {
    let time = self.tick()
    change(&self.pages.entries, time)
    self.pages.updates += 1
    self.pages.hasError = false
  }
}
