internal import OperationCore
internal import OperationFoundation

extension FreshnessRecord: OperationExplaining {
  /// Tells the last stale value that a caller got, and how stale values may be served.
  func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    var facts: [String] = []
    for notice in explanation.notices {
      guard notice.name == OperationNotice.Name.servedStale.description else { continue }
      facts.append("a caller got the stale value \(notice.age.roundedText) ago")
      break
    }
    let configuration = self.configuration
    if let patience = configuration.patience { facts.append("a caller waits \(patience.roundedText) at most") }
    if let seconds = configuration.maximumAge, seconds < 3_153_600_000 {
      facts.append("a stale value is served until it is \(Duration.seconds(max(seconds, 0)).roundedText) old")
    }
    explanation.sections.append(OperationExplanation.Section(title: "Stale values", facts: facts))
  }
}
