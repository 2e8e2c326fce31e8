/// What a comment before a sample says about it.
enum Directive {
  case continues
  case apart
  case `in`(type: String)
  case on(actor: String)
  case skip(reason: String)
  case `is`(file: String)

  init?(_ words: String) {
    if words == "continues" {
      self = .continues
    } else if words == "apart" {
      self = .apart
    } else if let type = words.rest(after: "in ") {
      self = .in(type: type)
    } else if let actor = words.rest(after: "on ") {
      self = .on(actor: actor)
    } else if let reason = words.rest(after: "skip, ") {
      self = .skip(reason: reason)
    } else if let file = words.rest(after: "is ") {
      self = .is(file: file)
    } else {
      return nil
    }
  }
}

extension String {
  fileprivate func rest(after prefix: String) -> String? {
    guard self.hasPrefix(prefix), self != prefix else { return nil }
    return String(self.dropFirst(prefix.count))
  }
}
