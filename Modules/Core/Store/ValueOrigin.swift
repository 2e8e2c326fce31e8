/// Where a value comes from that is not like any other, such as a fallback.
struct ValueOrigin: Sendable {
  /// The origin in a sentence.
  let text: @Sendable () -> String
  fileprivate let value: ValueNumbers
}

/// Numbers that are others for each value that a store has had.
private struct ValueNumbers: Equatable, Sendable {
  let updates: Int
  let uncountedChanges: Int
  let resets: Int
}

extension StoreMachine {
  private var valueNumbers: ValueNumbers {
    ValueNumbers(
      updates: self.state.typed.valueUpdateCount,
      uncountedChanges: self.extras?.content.uncountedChanges ?? 0,
      resets: self.extras?.content.resets ?? 0
    )
  }

  /// Notes where the value of the state comes from.
  mutating func noteValueOrigin(_ text: @escaping @Sendable () -> String, _ released: inout ReleasedValues) {
    let origin = ValueOrigin(text: text, value: self.valueNumbers)
    let extras = self.uniqueExtras()
    if let former = extras.content.valueOrigin { released.append(former) }
    extras.content.valueOrigin = origin
  }

  /// Where the value of the state comes from; nil for a value like any other.
  var shownValueOrigin: ValueOrigin? {
    guard let origin = self.extras?.content.valueOrigin, origin.value == self.valueNumbers else { return nil }
    return origin
  }
}
