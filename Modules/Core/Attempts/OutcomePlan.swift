/// What the setup of an operation has found out about the modifiers that bound or replace its outcome.
@usableFromInline
struct OutcomePlan: Sendable {
  /// The retry that a client applies by default, and the place that it has.
  struct Placement: Sendable {
    let owner: UInt64
    let id: OutcomeModifierIdentifier
    let maker: any AttemptMaker
  }

  /// The innermost modifier that offers a place for attempts.
  var innermost: OutcomeModifierIdentifier?
  /// Where the attempts of the client's retry are made; nil if it makes them itself.
  var placement: Placement?
  /// The deadlines, from the outermost to the innermost.
  var deadlines: [PlannedDeadline] = []
}

extension OutcomePlan: CustomStringConvertible {
  @usableFromInline
  var description: String {
    let place = self.placement.map { "attempts in \($0.id), " } ?? ""
    return "\(place)\(self.deadlines.count) deadlines"
  }
}

extension OperationContext {
  var outcomePlan: OutcomePlan {
    get { self[OutcomePlanKey.self] }
    set { self[OutcomePlanKey.self] = newValue }
  }

  @inlinable
  package var hasOutcomePlan: Bool { self.isSet(OutcomePlanKey.self) }

  /// Who makes the attempts inside of a modifier; nil if they have no place there.
  @usableFromInline
  package func attemptMaker(for id: OutcomeModifierIdentifier) -> (any AttemptMaker)? {
    guard let placement = self.outcomePlan.placement, placement.id == id else { return nil }
    return placement.maker
  }

  @usableFromInline
  enum OutcomePlanKey: Key {
    @usableFromInline static let defaultValue = OutcomePlan()
  }
}

// MARK: - Retries that clients apply

extension OperationContext {
  /// Forgets the offers of places outside of a retry. Called before the setup of the operation inside.
  package mutating func forgetOfferedPlaces() {
    if self.hasOutcomePlan, self.outcomePlan.innermost != nil { self.outcomePlan.innermost = nil }
  }

  /// The innermost place that the operation inside has offered; nil for none.
  package var offeredPlace: OutcomeModifierIdentifier? {
    self.hasOutcomePlan ? self.outcomePlan.innermost : nil
  }

  /// Puts the attempts of a retry into a place that was offered.
  ///
  /// - Parameters:
  ///   - owner: The number of the retry.
  ///   - id: The place.
  ///   - maker: Makes the attempts there.
  package mutating func placeAttempts(
    ofRetry owner: UInt64,
    in id: OutcomeModifierIdentifier,
    _ maker: any AttemptMaker
  ) {
    self.outcomePlan.placement = OutcomePlan.Placement(owner: owner, id: id, maker: maker)
  }

  /// Whether the attempts of a retry are made in a place inside of it.
  package func hasPlacedAttempts(ofRetry owner: UInt64) -> Bool {
    self.hasOutcomePlan && self.outcomePlan.placement?.owner == owner
  }
}
