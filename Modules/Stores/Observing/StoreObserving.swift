/// An observer of stores, with what is asked of it once.
final class StoreObserving: Sendable {
  let observer: any StoreObserver
  /// The observer if it is called before a value can be read.
  let valueObserver: (any StoreValueObserver)?
  /// What a store has to do for it: see ``StoreWatch``.
  let watch: StoreWatch

  init(_ observer: any StoreObserver) {
    self.observer = observer
    self.valueObserver = observer as? any StoreValueObserver
    var watch = StoreWatch(observer.observedEvents)
    if self.valueObserver != nil { watch.insert(.values) }
    self.watch = watch
  }

  /// Whether the observer receives an event.
  func receives(_ what: StoreEvent.What) -> Bool { what.kind.map { self.watch.contains(StoreWatch($0)) } ?? true }
}

/// What the observers of a store receive: a store loads it to find out whether an event has to be made.
struct StoreWatch: OptionSet, Sendable {
  let rawValue: UInt32

  /// Events of the kinds.
  init(_ kinds: StoreEvent.Kinds) {
    self.rawValue = UInt32(kinds.rawValue)
  }

  init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Values, before they can be read.
  static let values = Self(rawValue: 1 << 16)
  /// An observer of a client, which may receive nothing but its first and its last event.
  static let client = Self(rawValue: 1 << 17)
}

/// The observers of one store: those of its setup, and those that were added to it. A client's are not among them.
struct StoreObservers: Sendable {
  struct Member: Sendable {
    let observing: StoreObserving
    /// How often the observer was added.
    var count: Int
  }

  /// In the order in which they were added.
  private(set) var members: [Member] = []
  /// Those that are called before a value can be read, so that a change of the value makes no list of them.
  private(set) var valueObservers: [any StoreValueObserver] = []

  var isEmpty: Bool { self.members.isEmpty }

  /// What all of them receive.
  var watch: StoreWatch { self.members.reduce(into: []) { $0.formUnion($1.observing.watch) } }

  func contains(_ observer: any StoreObserver) -> Bool { self.index(of: observer) != nil }

  /// Adds an observer. Returns false if it was there already.
  mutating func add(_ observing: StoreObserving) -> Bool {
    if let index = self.index(of: observing.observer) {
      self.members[index].count += 1
      return false
    }
    self.members.append(Member(observing: observing, count: 1))
    if let observer = observing.valueObserver { self.valueObservers.append(observer) }
    return true
  }

  /// Takes back one addition of an observer. Returns it if that was the last.
  mutating func remove(_ observer: any StoreObserver) -> StoreObserving? {
    guard let index = self.index(of: observer) else { return nil }
    self.members[index].count -= 1
    if self.members[index].count > 0 { return nil }
    self.valueObservers.removeAll { $0 === observer }
    return self.members.remove(at: index).observing
  }

  private func index(of observer: any StoreObserver) -> Int? {
    self.members.firstIndex { $0.observing.observer === observer }
  }
}

/// An event that waits in the queue of its store, with the observers that receive it.
final class ObservedEvent: Sendable {
  private let event: StoreEvent
  private let recipients: [StoreObserving]
  private let store: StoreReference

  init(_ event: StoreEvent, of store: StoreReference, to recipients: [StoreObserving]) {
    self.event = event
    self.store = store
    self.recipients = recipients
  }

  func deliver() {
    for recipient in self.recipients { recipient.observer.receive(self.event, of: self.store) }
  }
}
