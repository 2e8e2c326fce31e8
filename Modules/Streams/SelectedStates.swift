public import OperationCore

extension OperationStore {
  /// An asynchronous sequence of a part of the current state and of later ones, without repetitions.
  ///
  /// ```swift
  /// for await isLoading in store.states(selecting: \.isLoading) { spinner.isVisible = isLoading }
  /// for await name in store.states(selecting: { $0.currentValue?.name }) { title = name ?? "" }
  /// ```
  ///
  /// It works as `states`, and leaves out a part that equals the one before. So it does not wake its reader for what the
  /// reader does not show.
  ///
  /// - Parameter select: Returns the part: a key path, or a closure. Called by the reader, with no lock held.
  /// - Returns: The sequence, which ends when the store is released, or removed from its client.
  public func states<Selected: Equatable & Sendable>(
    selecting select: @escaping @Sendable (State) -> Selected
  ) -> SelectedStates<State, Selected> {
    SelectedStates(states: self.states, select: select)
  }
}

/// Parts of the states of a store: ``OperationCore/OperationStore/states(selecting:)`` makes the sequence.
///
/// Each iterator is a subscriber of its own, and unsubscribes when it is dropped. A slow iterator receives the newest
/// part and misses the earlier ones. No part comes twice in a row.
public struct SelectedStates<State: OperationState & Sendable, Element: Equatable & Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never

  let states: OperationStore<State>.AsyncStates
  let select: @Sendable (State) -> Element

  public func makeAsyncIterator() -> Iterator {
    Iterator(states: self.states.makeAsyncIterator(), select: self.select)
  }

  /// Iterates over the parts of the states of a store.
  public struct Iterator: AsyncIteratorProtocol {
    public typealias Failure = Never

    var states: OperationStore<State>.AsyncStates.Iterator
    let select: @Sendable (State) -> Element
    private var last: Element?

    init(states: OperationStore<State>.AsyncStates.Iterator, select: @escaping @Sendable (State) -> Element) {
      self.states = states
      self.select = select
    }

    public mutating func next() async -> Element? {
      await self.next(isolation: nil)
    }

    public mutating func next(isolation: isolated (any Actor)?) async -> Element? {
      while let element = await self.states.next(isolation: isolation) {
        let selected = self.select(element.state)
        if let last = self.last, last == selected { continue }
        self.last = selected
        return selected
      }
      return nil
    }
  }
}
