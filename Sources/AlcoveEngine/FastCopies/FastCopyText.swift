/// What a copy and its original read, to be compared: prose, speech, numbers, a list, code and another language.
enum FastCopyText {
    static let text = """
        The harbour wakes before the town does. At four in the morning the first lamps move along the quay, and the men who \
        carry them do not speak much, because everything that has to be said about nets and weather was said the evening \
        before. By the time the bakery opens its shutters, the boats are already small dark marks between the breakwater and \
        the sun. Maria has watched them leave for thirty years from the same kitchen window, and she still counts them.

        "How many today?" her grandson asked, climbing on the chair beside her.
        "Eleven," she said. "The twelfth has a broken rudder, so Anton stays at home and mends it."
        "Will he be sad?"
        "He will be glad to sleep, I think, and sad that he cannot complain about the fish."

        Water boils at 100 degrees Celsius at sea level, and at about 93 degrees on a mountain 2,000 metres high, because the \
        air presses less on its surface. That is why potatoes take longer in a mountain hut. The rule of thumb is one degree \
        for each 300 metres. A pressure cooker does the opposite: it keeps the steam in, the pressure rises, and the food is \
        done in a third of the time.

        To repair a punctured tyre:
        1. Take the wheel off and let out the air that is left.
        2. Lift one side of the tyre over the rim with two levers.
        3. Pull out the tube, pump it up a little and listen for the hole.
        4. Roughen the place with sandpaper, spread the glue and wait five minutes.
        5. Press the patch on firmly, put everything back and pump it up.

        func sum(of numbers: [Int]) -> Int {
            var total = 0
            for number in numbers {
                total += number
            }
            return total
        }

        The committee met on Tuesday to discuss the new library. Mrs Okafor asked why the budget had grown from 240,000 to \
        310,000 in one year. The architect answered that the ground was softer than expected and that the foundations had to \
        be twice as deep; he had written so in his report of March, which nobody seemed to have read. After a short silence \
        the chair proposed to read it now. It was agreed that the roof would be tiled, that the reading room would face north, \
        and that the children's corner would get the window with the view of the chestnut trees.

        Der Zug nach Hamburg hat heute zwanzig Minuten Verspätung. Wir bitten um Entschuldigung.

        In the end every map is a decision about what to leave out. A good one shows the road you need and not the thousand \
        roads you do not; a bad one shows them all, in the same colour, and leaves you standing in the rain at a crossroads \
        with a wet sheet of paper and no idea which way is home.
        """
}
