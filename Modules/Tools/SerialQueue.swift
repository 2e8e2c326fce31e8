/// Elements that are processed one at a time, in order, without the lock that guards the queue.
///
/// The first caller that finds nothing in progress processes the elements, also the elements that other callers append
/// meanwhile. Appending and removing take constant amortized time.
@usableFromInline
package struct SerialQueue<Element: Sendable>: Sendable {
  // A removed element is replaced with nil, so that compacting the array destroys no element under the lock.
  @usableFromInline var elements: [Element?] = []
  /// The index of the first element that has not been removed.
  @usableFromInline var head: Int32 = 0
  /// Whether a caller is processing elements. Only that caller removes them.
  @usableFromInline var isProcessing = false

  @inlinable
  package init() {}

  /// The number of elements that have not been removed.
  @inlinable
  package var count: Int { self.elements.count - Int(self.head) }

  @inlinable
  package var isEmpty: Bool { Int(self.head) == self.elements.count }

  /// The element that is removed next; nil if the queue is empty.
  @inlinable
  package var first: Element? { self.isEmpty ? nil : self.elements[Int(self.head)] }

  /// Whether the queue is empty and no processing is in progress.
  @inlinable
  package var isAtRest: Bool { self.isEmpty && !self.isProcessing }

  @inlinable
  package mutating func append(_ element: Element) {
    self.elements.append(element)
  }

  /// Begins processing, and returns the first element. Returns nil if processing is in progress or the queue is empty.
  @inlinable
  package mutating func begin() -> Element? {
    guard !self.isProcessing, !self.isEmpty else { return nil }
    self.isProcessing = true
    return self.popFirst()
  }

  /// Begins processing an element that is not in the queue. Returns false if other elements come first: append it then.
  @inlinable
  package mutating func beginDirectly() -> Bool {
    guard self.isAtRest else { return false }
    self.isProcessing = true
    return true
  }

  /// Returns the next element of the processing in progress. Returns nil, and ends it, if the queue is empty.
  @inlinable
  package mutating func next() -> Element? {
    let element = self.popFirst()
    self.isProcessing = element != nil
    return element
  }

  /// Ends the processing in progress, and returns true. Returns false, and does not end it, if the queue is not empty.
  @inlinable
  package mutating func end() -> Bool {
    guard self.isEmpty else { return false }
    self.isProcessing = false
    return true
  }

  /// Removes and returns the first element; nil if the queue is empty. For a queue whose elements several callers process.
  @inlinable
  package mutating func popFirst() -> Element? {
    guard !self.isEmpty else { return nil }
    let element = self.elements[Int(self.head)].take()
    self.head += 1
    if self.isEmpty {
      self.elements.removeAll(keepingCapacity: self.elements.capacity <= 16)
      self.head = 0
    } else if self.head > 32, Int(self.head) > self.elements.count / 2 {
      self.elements.removeFirst(Int(self.head))
      self.head = 0
    }
    return element
  }
}
