package import Testing

/// Expects that two values are equal, and otherwise records an issue that shows both, at the line of the caller.
///
/// It is here for the time that a build takes. `#expect(value == expected)` becomes a closure with `==` between values of unknown types,
/// and the compiler tries all overloads of the operator: 27 ms for an `Int`, 48 ms for an array, where a call of this function takes
/// 4 ms and 7 ms. The tests compare values nearly 10,000 times.
package func expect<Value: Equatable>(
  _ value: Value,
  equals expected: Value,
  _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard value != expected else { return }
  Issue.record(Comment(rawValue: differing(value, expected, comment())), sourceLocation: sourceLocation)
}

/// The text of the issue, in a function that is not generic.
private func differing(_ value: Any, _ expected: Any, _ comment: Comment?) -> String {
  var texts = (value: String(describingForTest: value), expected: String(describingForTest: expected))
  if texts.value == texts.expected {
    // The descriptions leave out what differs.
    texts = ("", "")
    dump(value, to: &texts.value)
    dump(expected, to: &texts.expected)
  }
  var lines = ["The value is not the expected one.", "     value: \(texts.value)", "  expected: \(texts.expected)"]
  if let difference = difference(texts.value, texts.expected) { lines.append("  \(difference)") }
  if let comment { lines.append(comment.rawValue) }
  return lines.joined(separator: "\n")
}

/// Where two long texts begin to differ, with what comes before and after; of short ones a reader sees that.
private func difference(_ value: String, _ expected: String) -> String? {
  guard value != expected, value.count + expected.count > 200 else { return nil }
  let same = zip(value, expected).prefix { $0 == $1 }.count
  let skipped = max(0, same - 20)
  func part(_ text: String) -> String {
    let rest = text.dropFirst(skipped)
    return (skipped > 0 ? "…" : "") + rest.prefix(60) + (rest.count > 60 ? "…" : "")
  }
  return "They differ from character \(same + 1) on: \(part(value)) is not \(part(expected))"
}
