import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckKindTests {
  @Test func `The kind of queries keeps the rules`() async throws {
    try await checkKind(returning: 1, 2) { ($0.query(), QueryState()) }
  }

  @Test func `Queries with a default value keep the rules`() async throws {
    try await checkKind(returning: 1, 2) { script in
      (script.query().defaultValue(7), DefaultOperationState(QueryState(), defaultValue: 7))
    }
  }

  @Test func `A sound state of another kind keeps the rules, also with modifiers`() async throws {
    try await checkKind(returning: 1, 2) { (BrokenRequest(script: $0), BrokenState(.none)) }
    try await checkKind(returning: 1, 2) { script in
      (BrokenRequest(script: script).context { $0.isAudited = true }, BrokenState(.none))
    }
  }

  private static let faults: [(KindRule, StateFault, String)] = [
    (.loading, .hidesTasks, "the state is not loading while a run is under way. Keep the task in"),
    (.loading, .keepsTasks, "the state is loading after the run has ended. Remove the task in"),
    (.value, .ignoresFirstValue, "a run returned a value, and 0 updates are counted."),
    (.value, .keepsError, "a run returned a value, and the error before it is still there."),
    (.failure, .dropsValue, "a run threw an error, and the value became nil. Leave the value as it is."),
    (.cancellation, .countsElsewhere, "a run yielded and was cancelled, and the state became Optional(3), 1 updates"),
    (
      .replay, .ignoresSetValues,
      "Optional(1) was set during a run that was then cancelled, and the value became Optional(2)."
    ),
    (.reset, .resetsNothing, "after a reset the state is Optional(1), 1 updates"),
    (.layers, .countsLayers, "the value was replaced temporarily, and the rest became 2 updates"),
  ]

  @Test(arguments: Self.faults.indices)
  func `A broken rule is an issue with the wrong value and the remedy`(index: Int) async throws {
    let (rule, fault, message) = Self.faults[index]
    let begin = "The kind breaks the rule '\(rule)': \(message)"
    let found = try await recordedIssues(expecting: .firstBegins(with: begin)) { limit in
      try await checkKind([rule], returning: 1, 2, within: limit) { (BrokenRequest(script: $0), BrokenState(fault)) }
    }
    expect(found.first?.hasPrefix(begin), equals: true, "\(found)")
  }

  @Test func `A state with one fault keeps the rules that are not about it`() async throws {
    for (rule, fault, _) in Self.faults where fault != .ignoresFirstValue {
      let others = KindRule.allCases.filter { other in other != rule && !Self.depends(other, on: fault) }
      let found = try await recordedIssues {
        try await checkKind(others, returning: 1, 2) {
          (BrokenRequest(script: $0), BrokenState(fault))
        }
      }
      #expect(found.isEmpty, "\(fault): \(found)")
    }
  }

  /// Whether a fault breaks another rule as a consequence.
  private static func depends(_ rule: KindRule, on fault: StateFault) -> Bool {
    switch fault {
    case .keepsTasks: rule == .cancellation || rule == .reset
    case .countsElsewhere: rule == .failure || rule == .replay || rule == .layers
    case .keepsError: rule == .reset
    default: false
    }
  }

  @Test func `Each rule has a state that breaks it`() {
    expect(Set(Self.faults.map(\.0)), equals: Set(KindRule.allCases))
  }

  @Test func `A rule that is broken on purpose can be left out`() async throws {
    try await checkKind(except: [.layers], returning: 1, 2) {
      (BrokenRequest(script: $0), BrokenState(.countsLayers))
    }
  }
}

extension OperationContext {
  fileprivate var isAudited: Bool {
    get { self[AuditedKey.self] }
    set { self[AuditedKey.self] = newValue }
  }

  private enum AuditedKey: Key {
    static let defaultValue = false
  }
}
