import TestFixtures
import Testing

@testable import OperationPersistence

@Suite(.bounded) struct JournalPhaseTests {
  private static let removing = JournalPhase.removing(JournalPhase.Removal(isOfRefused: false))
  private static let refused = JournalPhase.removing(JournalPhase.Removal(isOfRefused: true))
  private static let all: [JournalPhase] = [
    .reserved(isRefused: false), .reserved(isRefused: true), .arrived(isRefused: false), .arrived(isRefused: true),
    .accepted,
    removing, refused, .ended(nil), .ended(.succeeded(nil)), .takenOver,
  ]

  private func phases(_ change: (inout JournalPhase) -> Void) -> [String] {
    Self.all.map { phase in
      var phase = phase
      change(&phase)
      return switch phase {
      case .reserved(let isRefused): isRefused ? "reserved, refused" : "reserved"
      case .arrived(let isRefused): isRefused ? "arrived, refused" : "arrived"
      case .accepted: "accepted"
      case .removing(let removal): removal.isOfRefused ? "removing, refused" : "removing"
      case .ended(let ending): ending == nil ? "ended" : "ended, shown"
      case .takenOver: "taken over"
      }
    }
  }

  private let before = [
    "reserved", "reserved, refused", "arrived", "arrived, refused", "accepted", "removing", "removing, refused",
    "ended",
    "ended, shown", "taken over",
  ]

  @Test func `A transition changes the phases that it is for, and no others`() {
    #expect(self.phases { _ in } == self.before)
    #expect(
      self.phases { $0.arrive() } == [
        "arrived", "arrived, refused", "arrived", "arrived, refused", "accepted", "removing", "removing, refused",
        "ended",
        "ended, shown", "taken over",
      ]
    )
    #expect(
      self.phases { _ = $0.refuse() } == [
        "reserved, refused", "reserved, refused", "arrived, refused", "arrived, refused", "accepted", "removing",
        "removing, refused", "ended", "ended, shown", "taken over",
      ]
    )
    #expect(
      self.phases { _ = $0.endFailedRemoval() } == [
        "reserved", "reserved, refused", "arrived", "arrived, refused", "accepted", "accepted", "accepted", "ended",
        "ended, shown", "taken over",
      ]
    )
    // What the user has removed is not shown as ended.
    #expect(
      self.phases { $0.end(with: .succeeded(nil)) } == [
        "ended, shown", "ended, shown", "ended, shown", "ended, shown", "ended, shown", "ended", "ended",
        "ended, shown",
        "ended, shown", "ended, shown",
      ]
    )
  }

  @Test func `A phase is stored, and goes away, once its entry is`() {
    #expect(Self.all.map(\.isStored) == [false, false, false, false, true, true, true, true, true, true])
    #expect(Self.all.map(\.isGone) == [false, false, false, false, false, true, true, true, true, false])
    #expect(Self.all.map(\.isRefused) == [false, true, false, true, false, false, true, false, false, false])
  }
}
