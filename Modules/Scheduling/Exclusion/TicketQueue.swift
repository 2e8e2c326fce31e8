/// Elements in the order of their tickets, from which any can be removed.
///
/// Elements are appended with ascending tickets.
///
/// - Complexity: Appending and removing the first element take amortized constant time; removing another element and
///   looking for one take O(log *n*).
struct TicketQueue<Element> {
  private struct Entry {
    let ticket: UInt64
    /// Nil when the element was removed.
    var element: Element?
  }

  private var entries: ContiguousArray<Entry> = []
  /// The index of the first entry that may have an element.
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { self.count == 0 }

  /// The element with the lowest ticket.
  var first: Element? { self.count == 0 ? nil : self.entries[self.head].element }

  /// The lowest ticket.
  var firstTicket: UInt64? { self.count == 0 ? nil : self.entries[self.head].ticket }

  /// All elements, in order.
  var all: [Element] { self.entries[self.head...].compactMap(\.element) }

  mutating func append(_ element: Element, ticket: UInt64) {
    precondition(ticket > self.entries.last?.ticket ?? 0, "Tickets ascend.")
    self.entries.append(Entry(ticket: ticket, element: element))
    self.count += 1
  }

  /// Adds an element in the order of its ticket, which no other element has.
  ///
  /// - Complexity: That of appending for the highest ticket, O(*n*) for others.
  mutating func insert(_ element: Element, ticket: UInt64) {
    guard ticket <= self.entries.last?.ticket ?? 0 else { return self.append(element, ticket: ticket) }
    let index = self.index(notBefore: ticket)
    if index < self.entries.count, self.entries[index].ticket == ticket {
      self.entries[index].element = element
    } else {
      self.entries.insert(Entry(ticket: ticket, element: element), at: index)
    }
    self.count += 1
  }

  /// The element with a ticket; nil if there is none.
  func element(at ticket: UInt64) -> Element? {
    let index = self.index(notBefore: ticket)
    return index < self.entries.count && self.entries[index].ticket == ticket ? self.entries[index].element : nil
  }

  /// Removes the element with a ticket and returns it; nil if there is none.
  mutating func remove(_ ticket: UInt64) -> Element? {
    let index = self.index(notBefore: ticket)
    guard index < self.entries.count, self.entries[index].ticket == ticket else { return nil }
    guard let element = self.entries[index].element.take() else { return nil }
    self.count -= 1
    self.tidy()
    return element
  }

  mutating func popFirst() -> Element? {
    self.firstTicket.flatMap { self.remove($0) }
  }

  /// The element with the lowest ticket above `ticket`.
  func first(after ticket: UInt64) -> Element? {
    var index = self.index(notBefore: ticket + 1)
    while index < self.entries.count {
      if let element = self.entries[index].element { return element }
      index += 1
    }
    return nil
  }

  /// The element with the highest ticket below `ticket`.
  func last(before ticket: UInt64) -> Element? { self.lastEntry(before: ticket)?.element }

  /// The element with the highest ticket below `ticket`, and its ticket.
  func lastEntry(before ticket: UInt64) -> (element: Element, ticket: UInt64)? {
    var index = self.index(notBefore: ticket)
    while index > self.head {
      index -= 1
      if let element = self.entries[index].element { return (element, self.entries[index].ticket) }
    }
    return nil
  }

  /// The elements with tickets below `ticket`, in order.
  func elements(before ticket: UInt64) -> [Element] {
    self.entries[self.head..<max(self.head, self.index(notBefore: ticket))].compactMap(\.element)
  }

  /// The elements with tickets from `first` on and below `ticket`, in order.
  ///
  /// - Complexity: O(*n*) in these elements.
  func elements(from first: UInt64, before ticket: UInt64) -> [Element] {
    let start = self.index(notBefore: first)
    return self.entries[start..<max(start, self.index(notBefore: ticket))].compactMap(\.element)
  }

  /// The first elements with tickets below `ticket`, in order, and at most as many as `limit`.
  func prefix(_ limit: Int, before ticket: UInt64) -> [Element] {
    Array(self.entries[self.head...].lazy.prefix { $0.ticket < ticket }.compactMap(\.element).prefix(limit))
  }

  private func index(notBefore ticket: UInt64) -> Int {
    var (low, high) = (self.head, self.entries.count)
    if low < high, self.entries[low].ticket >= ticket { return low }
    while low < high {
      let middle = (low + high) / 2
      if self.entries[middle].ticket < ticket { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func tidy() {
    if self.count == 0 {
      self.head = 0
      // A small buffer is kept, because many queues fill and empty all the time.
      self.entries.removeAll(keepingCapacity: self.entries.capacity <= 64)
      return
    }
    while self.entries[self.head].element == nil { self.head += 1 }
    guard self.entries.count > 32, self.entries.count - self.count > self.entries.count / 2 else { return }
    self.entries.removeAll { $0.element == nil }
    self.head = 0
  }
}
