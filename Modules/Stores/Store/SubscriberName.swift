/// The name of a subscriber. It is an object, so that slots of subscribers without a name need not be larger.
final class SubscriberName: Sendable {
  let text: String

  init(_ text: String) {
    self.text = text
  }
}
