extension Error {
  /// What the error says about another attempt: its classification, or else its hint; nil if it says nothing.
  package var retryAdvice: RetryClassification? {
    let classification = (self as? any RetryClassifying)?.retryClassification
    switch classification {
    case .never, .retryAfter: return classification
    case .retry, nil: return (self as? any RetryHinting)?.retryAfter.map { .retryAfter($0) } ?? classification
    }
  }
}

extension OperationContext {
  /// The longest time that a modifier waits because an error asks for it. One minute by default.
  package var retryAfterCap: OperationDuration {
    get { self[RetryAfterCapKey.self] }
    set { self[RetryAfterCapKey.self] = newValue }
  }

  private enum RetryAfterCapKey: Key {
    static let defaultValue = OperationDuration.seconds(60)
  }
}
