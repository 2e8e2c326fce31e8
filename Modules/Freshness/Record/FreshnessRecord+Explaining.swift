internal import OperationCore
internal import OperationFoundation

extension FreshnessRecord: OperationExplaining {
  /// Tells the last stale value that a caller got, how stale values may be served, and whether a failure rests.
  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    var facts: [String] = []
    if let served = self.lastServed {
      facts.append("a caller got the stale value \(Duration.since(served, at: inspection.date).roundedText) ago")
    }
    let configuration = self.configuration
    if let patience = configuration.patience { facts.append("a caller waits \(patience.roundedText) at most") }
    if let seconds = configuration.maximumAge, seconds < 3_153_600_000 {
      facts.append("a stale value is served until it is \(Duration.seconds(max(seconds, 0)).roundedText) old")
    }
    facts += self.restFacts(at: inspection.date)
    inspection.sections.append(StoreInspection.Section(title: "Stale values", facts: facts))
  }

  private func restFacts(at date: Date) -> [String] {
    guard let rest = self.rest(at: date) else { return [] }
    let age = Duration.seconds(rest.age).roundedText
    func left(until end: Double) -> String { Duration.seconds(end - rest.age).roundedText }
    if rest.isAnswer { return ["a failure of \(age) ago is the answer for \(left(until: rest.answers)) more"] }
    var facts: [String] = []
    if rest.isPause {
      facts.append("after a failure \(age) ago, no caller starts a run for \(left(until: rest.pauses)) more")
    }
    if rest.isEarlyPause {
      facts.append("after a failure \(age) ago, no early refresh begins for \(left(until: rest.pausesEarly)) more")
    }
    return facts
  }
}
