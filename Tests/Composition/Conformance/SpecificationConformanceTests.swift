import Operation
import OperationTesting
import TestFixtures
import Testing

/// Every run specification of the library keeps the rules, alone and combined.
@Suite(.bounded, .warningsAreIssues) struct SpecificationConformanceTests {
  @Test(arguments: BuiltInSpecification.literals)
  func `Each specification keeps the rules`(specification: BuiltInSpecification) async throws {
    try await self.check { specification.make() }
  }

  @Test(arguments: [true, false])
  func `A constant keeps the rules`(isTrue: Bool) async throws {
    try await checkRunSpecification { (AlwaysRunSpecification(isTrue: isTrue), nil) }
    try await checkRunSpecification { (!AlwaysRunSpecification(isTrue: isTrue) && .always(true), nil) }
  }

  @Test(arguments: BuiltInSpecification.literals)
  func `Each specification with a constant keeps the rules`(specification: BuiltInSpecification) async throws {
    try await self.check {
      let (base, set) = specification.make()
      return (AnySendableRunSpecification(base && .always(true)), set)
    }
    try await self.check {
      let (base, set) = specification.make()
      return (AnySendableRunSpecification(.always(false) || base), set)
    }
  }

  @Test(arguments: BuiltInSpecification.literals)
  func `Each specification with any other keeps the rules`(left: BuiltInSpecification) async throws {
    for right in BuiltInSpecification.literals {
      for combine in Combination.allCases {
        try await self.check { combine(left.make(), right.make()) }
      }
    }
  }

  @Test(arguments: BuiltInSpecification.literals)
  func `Each specification with any two others keeps the rules`(first: BuiltInSpecification) async throws {
    for second in BuiltInSpecification.all {
      for third in ModelRuns.part(of: BuiltInSpecification.all, every: 3) {
        for outer in [Combination.and, .or] {
          for inner in [Combination.negatedOr, .negatedAnd] {
            try await self.check { outer(first.make(), inner(second.make(), third.make())) }
          }
        }
      }
    }
  }

  private func check(_ make: () -> BuiltInSpecification.Checked) async throws {
    try await checkRunSpecification { make() }
  }
}

/// A run specification of the library, and a way to change it.
struct BuiltInSpecification: Sendable, CustomTestStringConvertible {
  /// A specification that is not satisfied, and the closure that makes it so or not.
  typealias Checked = (specification: AnySendableRunSpecification, set: (@Sendable (Bool) -> Void)?)

  let name: String
  let make: @Sendable () -> Checked

  var testDescription: String { self.name }

  static let all: [BuiltInSpecification] = [
    BuiltInSpecification(name: "connected") {
      let network = MockNetworkObserver(initialStatus: .disconnected)
      return (
        AnySendableRunSpecification(.connected(to: network)), { network.send(status: $0 ? .connected : .disconnected) }
      )
    },
    BuiltInSpecification(name: "connected to one that reports changes only") {
      let network = ChangesOnly(MockNetworkObserver(initialStatus: .connected))
      let specification = AnySendableRunSpecification(!.connected(to: network))
      return (specification, { network.base.send(status: $0 ? .disconnected : .connected) })
    },
    BuiltInSpecification(name: "active") {
      let activity = MockApplicationActivityObserver(isActive: false)
      return (AnySendableRunSpecification(.applicationIsActive(observer: activity)), { activity.send(isActive: $0) })
    },
    BuiltInSpecification(name: "sequence") {
      let (stream, source) = AsyncStream.makeStream(of: Bool.self)
      return (AnySendableRunSpecification(.observing(sequence: stream, initialValue: false)), { source.yield($0) })
    },
  ]

  /// All of them, and negations of some.
  static let literals =
    all + [
      BuiltInSpecification(name: "disconnected") {
        let network = MockNetworkObserver(initialStatus: .connected)
        let specification = AnySendableRunSpecification(!.connected(to: network))
        return (specification, { network.send(status: $0 ? .disconnected : .connected) })
      },
      BuiltInSpecification(name: "negated sequence") {
        let (stream, source) = AsyncStream.makeStream(of: Bool.self)
        return (AnySendableRunSpecification(!.observing(sequence: stream, initialValue: true)), { source.yield(!$0) })
      },
    ]
}

/// The ways to combine two specifications, so that both together become satisfied.
private enum Combination: CaseIterable {
  case and, or, negatedOr, negatedAnd

  func callAsFunction(
    _ left: BuiltInSpecification.Checked,
    _ right: BuiltInSpecification.Checked
  ) -> BuiltInSpecification.Checked {
    let (first, second) = (left.specification, right.specification)
    let combined =
      switch self {
      case .and: AnySendableRunSpecification(first && second)
      case .or: AnySendableRunSpecification(first || second)
      case .negatedOr: AnySendableRunSpecification(!(!first || !second))
      case .negatedAnd: AnySendableRunSpecification(!(!first && !second))
      }
    return (
      combined,
      { isOn in
        left.set?(isOn)
        right.set?(isOn)
      }
    )
  }
}

/// An observer that reports changes only.
private struct ChangesOnly: NetworkObserver, Sendable {
  let base: MockNetworkObserver

  init(_ base: MockNetworkObserver) {
    self.base = base
  }

  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription {
    let isOpening = Gate()
    let subscription = self.base.subscribe { status in
      if isOpening.isOpen { handler(status) }
    }
    isOpening.open()
    return subscription
  }
}
