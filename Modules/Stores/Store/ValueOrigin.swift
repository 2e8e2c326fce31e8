/// The origin of a value that is a fallback or was restored.
struct ValueOrigin: Sendable {
  /// The origin in a sentence.
  let text: @Sendable () -> String
  fileprivate let value: ValueNumbers
}

/// Numbers that change with each value of a store.
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

  /// Notes the origin of the value of the state.
  mutating func noteValueOrigin(_ text: @escaping @Sendable () -> String, _ released: inout ReleasedValues) {
    let origin = ValueOrigin(text: text, value: self.valueNumbers)
    let extras = self.uniqueExtras()
    if let former = extras.content.valueOrigin { released.append(former) }
    extras.content.valueOrigin = origin
  }

  /// The origin of the value of the state; nil for a usual value.
  var shownValueOrigin: ValueOrigin? {
    guard let origin = self.extras?.content.valueOrigin, origin.value == self.valueNumbers else { return nil }
    return origin
  }
}
