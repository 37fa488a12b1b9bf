internal import AlcoveCore
