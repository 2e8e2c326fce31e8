/// The name of a subscriber. An object, so that the slots of subscribers without a name are no larger for it.
final class SubscriberName: Sendable {
  let text: String

  init(_ text: String) {
    self.text = text
  }
}
